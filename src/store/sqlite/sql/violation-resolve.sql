-- What became of a violation after all.
UPDATE violations SET data = json_set(data, '$.resolution', :resolution) WHERE id = :id
