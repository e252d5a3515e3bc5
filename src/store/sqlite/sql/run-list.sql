-- All runs, newest first.
SELECT data FROM runs ORDER BY created_at DESC, id DESC
