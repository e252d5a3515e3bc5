-- Voids a pending checkpoint; changes nothing when it has been answered.
UPDATE checkpoints
SET state = 'void', answered_at = :at, data = json_set(data, '$.voidReason', :reason)
WHERE id = :id AND state = 'pending'
