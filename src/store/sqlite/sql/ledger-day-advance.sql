-- Moves the ledger's day forward, never back: a clock that was set back must not open a used window again.
INSERT INTO meta (key, value) VALUES ('ledger-day', :day)
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE excluded.value > meta.value
