-- A scope's row with the cap that the policy says now; what a human approved stays its least.
INSERT INTO budgets (scope, cap_milli) VALUES (:scope, :cap_milli)
ON CONFLICT (scope) DO UPDATE SET cap_milli = CASE
  WHEN excluded.cap_milli IS NULL THEN NULL
  ELSE max(excluded.cap_milli, coalesce(raised_milli, 0))
END
