import { amountText } from '../domain/amount.ts';
import type { Finding } from '../domain/checkpoint.ts';
import { budgetState, dayOf, liveScopes } from './budgets.ts';
import { readRun } from './records.ts';
import type { Session } from './session.ts';

export const BUDGET_WARNING = 'budget-warning';

/** Budgets of the role that have passed its `warn_at`, once each in a run; a cap that was raised warns again. */
export function budgetWarnings(session: Session): readonly Finding[] {
  const { engine, run, task, policy, step } = session;
  const steps = readRun(engine.store, run.id)?.steps ?? [];
  const remarks = [...step.remarks, ...steps.flatMap((each) => each.remarks)];
  const said = new Set(remarks.map((remark) => remark.text.split(SPENT)[0]));
  return liveScopes(engine, { run, task: task.id, policy, day: dayOf(engine.clock.now()) })
    .filter((scope) => scope.id.endsWith(`/${policy.role}`))
    .flatMap((scope): Finding[] => {
      const { used, limit } = budgetState(engine, scope);
      if (limit === 'unlimited' || limit === 0 || used < limit * policy.budget.warnAt) return [];
      const unit = scope.unit ?? 'tokens';
      const budget = `budget of ${scope.label}, ${amountText(limit, unit)}${unit === 'tokens' ? ' work tokens' : ''}`;
      const text = `${budget}${SPENT}${amountText(used, unit)} (warn_at ${Math.round(policy.budget.warnAt * 100)}%)`;
      return said.has(budget) ? [] : [{ kind: BUDGET_WARNING, text, task: task.id, role: step.role }];
    });
}

const SPENT = ': spent ';
