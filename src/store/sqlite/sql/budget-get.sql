-- One scope's balance.
SELECT scope, cap_milli, raised_milli, spent_milli, held_milli FROM budgets WHERE scope = :scope
