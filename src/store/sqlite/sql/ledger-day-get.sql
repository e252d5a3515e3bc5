-- The latest UTC day that the ledger has seen.
SELECT value FROM meta WHERE key = 'ledger-day'
