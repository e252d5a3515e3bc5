-- What each attempt of a run has spent so far.
SELECT task, role, attempt, coalesce(sum(work_milli), 0) AS work_milli FROM calls WHERE run = :run GROUP BY task, role, attempt
