-- Gives an approval back whose merge provably did not happen (a crash came before the ref moved).
UPDATE checkpoints
SET data = json_remove(data, '$.usedBy')
WHERE id = :id AND json_extract(data, '$.usedBy') = :intent
