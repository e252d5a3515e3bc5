-- The events of one agent, oldest first.
SELECT seq, at, type, data FROM events WHERE agent = :agent ORDER BY seq
