-- From here on the upstream may have worked for the call.
UPDATE calls SET state = 'sent' WHERE id = :id AND state = 'reserved'
