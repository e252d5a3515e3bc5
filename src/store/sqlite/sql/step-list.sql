-- The steps of a run in the order in which they began.
SELECT data FROM steps WHERE run = :run ORDER BY ordinal
