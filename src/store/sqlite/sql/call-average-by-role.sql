-- What the steps of a role have used so far, for the estimate of a plan.
SELECT count(DISTINCT agent) AS agents, count(*) AS calls, coalesce(sum(work_milli), 0) AS work_milli,
  count(usd_micros) AS priced, coalesce(sum(usd_micros), 0) AS usd_micros
FROM calls WHERE role = :role AND state IN ('settled', 'forfeit') AND agent IS NOT NULL
