-- A recorded snapshot of a step's workspace.
INSERT INTO snapshots (run, task, role, n, tree, at)
VALUES (:run, :task, :role, (SELECT count(*) FROM snapshots WHERE run = :run AND task = :task AND role = :role), :tree, :at)
