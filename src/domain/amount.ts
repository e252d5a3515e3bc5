/** What a budget is counted in: work tokens, or dollars. */
export type BudgetUnit = 'tokens' | 'usd';

/** `40,000` work tokens or `$1.25`, as people read it. */
export function amountText(amount: number, unit: BudgetUnit): string {
  switch (unit) {
    case 'tokens':
      return Math.round(amount).toLocaleString('en-US');
    case 'usd':
      return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`;
  }
}
