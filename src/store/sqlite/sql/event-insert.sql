-- One state change, written in the transaction of the row that it changes.
INSERT INTO events (at, type, run, task, role, agent, data) VALUES (:at, :type, :run, :task, :role, :agent, :data)
