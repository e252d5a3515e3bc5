import type { RolePolicy, TokenLimit } from '../policy/policy.ts';
import type { BudgetScope } from './gateway.ts';

/** The budgets of a day, which every call of a role counts against, of a run or of none. */
export function dayScopes(spender: {
  readonly policy: RolePolicy;
  /** Of all roles together. */
  readonly dayTokens: TokenLimit;
  readonly day: string;
}): readonly BudgetScope[] {
  const { policy, dayTokens, day } = spender;
  return [
    { id: `day-role:${day}/${policy.role}`, limit: policy.budget.day, label: `role ${policy.role} on ${day}` },
    { id: `day:${day}`, limit: dayTokens, label: `all roles on ${day}` },
  ];
}
