-- Scopes that begin with usd- are counted in millionths of a dollar instead of thousandths of a work token.
-- raised_milli: the cap that a human approved, in the scope's unit; the policy's cap never goes below it.
ALTER TABLE budgets ADD COLUMN raised_milli INTEGER;
