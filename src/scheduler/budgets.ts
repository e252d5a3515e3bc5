import type { BudgetUnit } from '../domain/amount.ts';
import type { RunId, TaskId } from '../domain/ids.ts';
import type { Manifest, Run } from '../domain/run.ts';
import { dayScopes } from '../gateway/day-scopes.ts';
import type { BudgetScope } from '../gateway/gateway.ts';
import { unitAmount } from '../gateway/row-amount.ts';
import type { RolePolicy } from '../policy/policy.ts';
import type { Engine } from './engine.ts';

interface Spender {
  readonly run: RunId;
  readonly task: TaskId;
  readonly policy: RolePolicy;
  readonly limits: Pick<Manifest['limits'], 'runTokens' | 'dayTokens'>;
}

/** Every budget that a call of this role on this task counts against, tightest first. */
export function scopesOf(spender: Spender & { readonly day: string }): readonly BudgetScope[] {
  const { run, task, policy, limits, day } = spender;
  const { role, budget } = policy;
  return [
    { id: `task:${run}/${task}/${role}`, limit: budget.task, label: `role ${role} on task ${task}` },
    { id: `run-role:${run}/${role}`, limit: budget.run, label: `role ${role} in run ${run}` },
    { id: `run:${run}`, limit: limits.runTokens, label: `run ${run}` },
    ...dayScopes({ policy, dayTokens: limits.dayTokens, day }),
    ...(budget.usdTask === undefined
      ? []
      : [
          {
            id: `usd-task:${run}/${task}/${role}`,
            unit: 'usd' as const,
            limit: budget.usdTask,
            label: `money of role ${role} on task ${task}`,
          },
        ]),
  ];
}

/** The same with the caps as the policies say them now: a reload or a new start changes them for what goes on, too. */
export function liveScopes(
  engine: Pick<Engine, 'policies'>,
  spender: { run: Run; task: TaskId; policy: RolePolicy; day: string },
): readonly BudgetScope[] {
  const { run, task, day } = spender;
  const policy = withLiveBudget(engine, run, spender.policy);
  return scopesOf({ run: run.id, task, policy, limits: engine.policies.active().global.limits, day });
}

/** An agent's own override stays what it was at the run's start. */
function withLiveBudget({ policies }: Pick<Engine, 'policies'>, run: Run, policy: RolePolicy): RolePolicy {
  const pinned = policies.pinned(run).roles.get(policy.role);
  const active = policies.active().roles.get(policy.role);
  const isOverridden = JSON.stringify(pinned?.budget) !== JSON.stringify(policy.budget);
  return active === undefined || isOverridden ? policy : { ...policy, budget: active.budget };
}

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Work tokens left in the tightest budget, as the ledger's rows say it. */
export function budgetLeft(
  engine: Engine,
  spender: { run: Run; task: TaskId; policy: RolePolicy },
): number | 'unlimited' {
  let least: number | 'unlimited' = 'unlimited';
  for (const scope of liveScopes(engine, { ...spender, day: dayOf(engine.clock.now()) })) {
    if (scope.unit === 'usd') continue;
    const left = leftIn(engine, scope);
    if (left !== 'unlimited' && (least === 'unlimited' || left < least)) least = left;
  }
  return least;
}

/** In the unit of the scope. */
export interface BudgetState {
  readonly used: number;
  readonly held: number;
  readonly limit: number | 'unlimited';
}

export function budgetState(engine: Pick<Engine, 'store'>, scope: BudgetScope): BudgetState {
  const row = engine.store.read('budget-get', { scope: scope.id })[0];
  const unit: BudgetUnit = scope.unit ?? 'tokens';
  const amount = (name: string) => unitAmount(Number(row?.[name] ?? 0), unit);
  return {
    used: amount('spent_milli'),
    held: amount('held_milli'),
    limit: scope.limit === 'unlimited' ? 'unlimited' : Math.max(scope.limit, amount('raised_milli')),
  };
}

function leftIn(engine: Engine, scope: BudgetScope): number | 'unlimited' {
  const state = budgetState(engine, scope);
  return state.limit === 'unlimited' ? 'unlimited' : Math.max(0, Math.floor(state.limit - state.used - state.held));
}
