-- Records a turn: pending while tool calls wait for a human, done with the snapshot after it.
INSERT INTO turns (agent, turn, state, snapshot, data, at) VALUES (:agent, :turn, :state, :snapshot, :data, :at)
ON CONFLICT (agent, turn) DO UPDATE SET state = excluded.state, snapshot = excluded.snapshot, data = excluded.data
