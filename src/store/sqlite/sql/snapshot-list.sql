-- All snapshots that a role's steps recorded, newest first.
SELECT run, task, role, n, tree, at FROM snapshots WHERE role = :role ORDER BY at DESC, n DESC LIMIT 1000
