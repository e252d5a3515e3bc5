-- Records a run or its new state.
INSERT INTO runs (id, state, created_at, data) VALUES (:id, :state, :created_at, :data)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, data = excluded.data
