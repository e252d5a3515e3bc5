-- A scope's row at its first use; a cap that was raised stays.
INSERT INTO budgets (scope, cap_milli) VALUES (:scope, :cap_milli) ON CONFLICT (scope) DO NOTHING
