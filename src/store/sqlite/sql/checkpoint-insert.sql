-- Opens a checkpoint.
INSERT INTO checkpoints (id, kind, state, run, task, role, created_at, data)
VALUES (:id, :kind, :state, :run, :task, :role, :created_at, :data)
