-- The tasks of a run in their order.
SELECT data FROM tasks WHERE run = :run ORDER BY ordinal
