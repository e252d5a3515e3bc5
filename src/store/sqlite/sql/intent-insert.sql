-- Announces an external effect before it happens.
INSERT INTO intents (id, kind, state, run, created_at, data) VALUES (:id, :kind, 'open', :run, :at, :data)
