-- The log after a sequence number, oldest first.
SELECT seq, at, type, run, task, role, agent, data FROM events WHERE seq > :after ORDER BY seq LIMIT :limit
