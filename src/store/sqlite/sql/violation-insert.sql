-- Records a violation; the same one reported twice stays one row.
INSERT INTO violations (id, run, task, role, path, detected_at, data)
VALUES (:id, :run, :task, :role, :path, :detected_at, :data)
ON CONFLICT DO NOTHING
