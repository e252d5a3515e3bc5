-- Checkpoints oldest first: pending ones, or all; of one run, or (null) of every run.
SELECT id, kind, state, run, task, role, created_at, answered_at, data
FROM checkpoints
WHERE (:all = 1 OR state = 'pending') AND (:run IS NULL OR run = :run)
ORDER BY created_at, rowid
