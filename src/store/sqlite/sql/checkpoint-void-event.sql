-- The event that goes with checkpoint-void, written before it and only when there is something to void.
INSERT INTO events (at, type, run, task, role, agent, data)
SELECT :at, 'checkpoint-voided', run, task, role, NULL, json_object('checkpoint', id, 'kind', kind, 'reason', :reason)
FROM checkpoints
WHERE id = :id AND state = 'pending'
