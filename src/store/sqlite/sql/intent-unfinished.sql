-- Merges that a crash left open, and finished ones whose run has not heard of it yet; oldest first.
SELECT intents.id AS id, intents.state AS state, intents.run AS run, intents.data AS data
FROM intents LEFT JOIN runs ON runs.id = intents.run
WHERE intents.kind = 'merge'
  AND (
    intents.state = 'open'
    OR (intents.state = 'done' AND runs.state NOT IN ('merged', 'rejected', 'failed', 'budget_exhausted', 'cancelled'))
  )
ORDER BY intents.created_at, intents.rowid
