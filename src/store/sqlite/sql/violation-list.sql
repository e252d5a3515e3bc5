-- Violations oldest first, of one run or (null) of every run.
SELECT id, run, task, role, path, detected_at, data
FROM violations
WHERE (:run IS NULL OR run = :run)
ORDER BY detected_at, rowid
