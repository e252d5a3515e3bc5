-- The conversation of an agent, oldest turn first.
SELECT turn, state, snapshot, data FROM turns WHERE agent = :agent ORDER BY turn
