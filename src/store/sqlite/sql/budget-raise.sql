-- The new absolute cap of a scope, which may not have been used yet.
INSERT INTO budgets (scope, cap_milli) VALUES (:scope, :cap_milli)
ON CONFLICT (scope) DO UPDATE SET cap_milli = excluded.cap_milli
