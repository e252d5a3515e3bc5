-- Moves a conflict on; a resolved one stays resolved.
UPDATE conflicts SET state = :state WHERE id = :id AND state <> 'resolved'
