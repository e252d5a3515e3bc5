-- What was spent after a moment; a forfeited call may have no answered request.
SELECT coalesce(sum(work_milli), 0) AS work_milli, coalesce(sum(usd_micros), 0) AS usd_micros,
  count(*) - count(usd_micros) AS unpriced
FROM calls WHERE created_at > :since AND state IN ('settled', 'forfeit')
