-- The one settlement of a call (settled or forfeit); changes no row when there was one before.
UPDATE calls SET
  state = :state, requests = :requests, input = :input, cache_read = :cache_read, cache_write_5m = :cache_write_5m,
  cache_write_1h = :cache_write_1h, output = :output, reasoning = :reasoning, work_milli = :work_milli,
  estimated_tokens = :estimated_tokens, forfeit_tokens = :forfeit_tokens, usd_micros = :usd_micros, source = :source,
  settled_at = :settled_at
WHERE id = :id AND state IN ('reserved', 'sent')
