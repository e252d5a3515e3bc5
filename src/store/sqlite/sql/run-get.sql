-- One run.
SELECT data FROM runs WHERE id = :id
