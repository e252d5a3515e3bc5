-- Calls in flight; after a crash, those that nobody will settle. answered: attempts that the upstream answered.
SELECT id, state, run, task, role, agent, model, protocol, reserved_input, reserved_output, reserved_milli, scopes,
  (SELECT count(*) FROM call_attempts WHERE call = calls.id AND status IS NOT NULL) AS answered
FROM calls WHERE state IN ('reserved', 'sent') ORDER BY created_at, id
