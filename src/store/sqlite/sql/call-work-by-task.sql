-- What a task has spent so far.
SELECT coalesce(sum(work_milli), 0) AS work_milli FROM calls WHERE run = :run AND task = :task
