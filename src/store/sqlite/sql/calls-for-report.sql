-- Every settled call since a time, as the usage report adds them up.
SELECT run, task, role, model, day, requests, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
  work_milli, estimated_tokens, forfeit_tokens, usd_micros, source
FROM calls WHERE state IN ('settled', 'forfeit') AND created_at >= :since ORDER BY created_at, id
