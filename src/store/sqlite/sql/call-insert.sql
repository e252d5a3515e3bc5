-- A logical model call, before its first upstream byte.
INSERT INTO calls (
  id, state, run, task, role, agent, attempt, model, protocol, key_tail, day,
  reserved_input, reserved_output, reserved_milli, scopes, created_at
) VALUES (
  :id, 'reserved', :run, :task, :role, :agent, :attempt, :model, :protocol, :key_tail, :day,
  :reserved_input, :reserved_output, :reserved_milli, :scopes, :created_at
)
