-- Records a step or its new state; the ordinal is the order in which steps began.
INSERT INTO steps (run, task, role, attempt, ordinal, state, data)
VALUES (:run, :task, :role, :attempt, (SELECT count(*) FROM steps WHERE run = :run), :state, :data)
ON CONFLICT (run, task, role, attempt) DO UPDATE SET state = excluded.state, data = excluded.data
