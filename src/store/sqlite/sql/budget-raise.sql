-- The new absolute cap of a scope, approved by a human; the scope may not have been used yet.
INSERT INTO budgets (scope, cap_milli, raised_milli) VALUES (:scope, :cap_milli, :cap_milli)
ON CONFLICT (scope) DO UPDATE SET cap_milli = excluded.cap_milli, raised_milli = excluded.cap_milli
