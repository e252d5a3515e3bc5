-- The guard of admission: holds the amount, or changes no row when it does not fit under the cap.
UPDATE budgets SET held_milli = held_milli + :amount_milli
WHERE scope = :scope AND (cap_milli IS NULL OR spent_milli + held_milli + :amount_milli <= cap_milli)
