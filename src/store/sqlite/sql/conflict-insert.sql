-- Records a conflict between running tasks; the same one reported twice stays one row.
INSERT INTO conflicts (id, run, path, state, created_at, data)
VALUES (:id, :run, :path, :state, :at, :data)
ON CONFLICT DO NOTHING
