-- Answers a pending checkpoint; the guard on the state is what makes an answer single.
UPDATE checkpoints
SET state = :state, answered_at = :at, data = json_set(data, '$.answer', json(:answer))
WHERE id = :id AND state = 'pending'
