-- Conflicts oldest first, of one run or (null) of every run.
SELECT id, run, path, state, data FROM conflicts WHERE (:run IS NULL OR run = :run) ORDER BY created_at, rowid
