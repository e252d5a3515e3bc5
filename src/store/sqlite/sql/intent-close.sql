-- Ends an open intent as done or void.
UPDATE intents SET state = :state WHERE id = :id AND state = 'open'
