import type { BudgetUnit } from '../domain/amount.ts';

/** The ledger counts in whole numbers: thousandths of a work token, millionths of a dollar. */
const PER_UNIT = { tokens: 1000, usd: 1_000_000 } as const satisfies Record<BudgetUnit, number>;

export function rowAmount(amount: number, unit: BudgetUnit): number {
  // A product like 4.35 × 1e6 may lie a hair below the whole number that is meant.
  return Math.floor(amount * PER_UNIT[unit] + 1e-3);
}

export function unitAmount(rowValue: number, unit: BudgetUnit): number {
  return rowValue / PER_UNIT[unit];
}
