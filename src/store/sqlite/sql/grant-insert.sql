-- Records what a human allowed; the same grant twice is one grant.
INSERT INTO grants (run, task, path, kind, blob, role, checkpoint, at)
VALUES (:run, :task, :path, :kind, :blob, :role, :checkpoint, :at)
ON CONFLICT DO NOTHING
