-- One remembered value.
SELECT value FROM meta WHERE key = :key
