-- Turns a reservation into what was really spent.
UPDATE budgets SET held_milli = held_milli - :reserved_milli, spent_milli = spent_milli + :spent_milli
WHERE scope = :scope
