-- Runs that came to an end after a moment.
SELECT run, max(at) AS at FROM events WHERE type = 'run-ended' AND at > :since AND run IS NOT NULL GROUP BY run
