-- One checkpoint by its id.
SELECT id, kind, state, run, task, role, created_at, answered_at, data FROM checkpoints WHERE id = :id
