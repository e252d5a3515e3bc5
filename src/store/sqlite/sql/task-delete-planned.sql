-- Forgets the tasks of an earlier plan of the same run that have not started.
DELETE FROM tasks WHERE run = :run AND id <> 'T0' AND state = 'queued'
