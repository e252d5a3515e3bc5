-- One physical attempt of a call; written when it is retried, and with the settlement unless it is there.
INSERT INTO call_attempts (call, n, status, outcome, at) VALUES (:call, :n, :status, :outcome, :at)
ON CONFLICT (call, n) DO NOTHING
