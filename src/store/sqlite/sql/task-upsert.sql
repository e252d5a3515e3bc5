-- Records a task or its new state.
INSERT INTO tasks (run, id, ordinal, state, data) VALUES (:run, :id, :ordinal, :state, :data)
ON CONFLICT (run, id) DO UPDATE SET state = excluded.state, data = excluded.data
