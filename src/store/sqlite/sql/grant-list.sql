-- Everything that was allowed in a run.
SELECT task, path, kind, blob, role FROM grants WHERE run = :run ORDER BY at, rowid
