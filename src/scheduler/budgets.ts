import type { RunId, TaskId } from '../domain/ids.ts';
import type { Manifest } from '../domain/run.ts';
import type { BudgetScope } from '../gateway/gateway.ts';
import type { RolePolicy } from '../policy/policy.ts';
import type { Engine } from './engine.ts';

interface Spender {
  readonly run: RunId;
  readonly task: TaskId;
  readonly policy: RolePolicy;
  readonly limits: Manifest['limits'];
}

/** Every budget that a call of this role on this task counts against, tightest first. */
export function scopesOf(spender: Spender & { readonly day: string }): readonly BudgetScope[] {
  const { run, task, policy, limits, day } = spender;
  const role = policy.role;
  return [
    { id: `task:${run}/${task}/${role}`, limit: policy.budget.task, label: `role ${role} on task ${task}` },
    { id: `run-role:${run}/${role}`, limit: policy.budget.run, label: `role ${role} in run ${run}` },
    { id: `run:${run}`, limit: limits.runTokens, label: `run ${run}` },
    { id: `day-role:${day}/${role}`, limit: policy.budget.day, label: `role ${role} on ${day}` },
    { id: `day:${day}`, limit: limits.dayTokens, label: `all roles on ${day}` },
  ];
}

/** Work tokens left in the tightest budget, as the ledger's rows say it. */
export function budgetLeft(engine: Engine, spender: Spender): number | 'unlimited' {
  const day = new Date(engine.clock.now()).toISOString().slice(0, 10);
  let least: number | 'unlimited' = 'unlimited';
  for (const scope of scopesOf({ ...spender, day })) {
    const left = leftIn(engine, scope);
    if (left !== 'unlimited' && (least === 'unlimited' || left < least)) least = left;
  }
  return least;
}

export interface BudgetState {
  readonly used: number;
  readonly held: number;
  readonly limit: number | 'unlimited';
}

export function budgetState(engine: Pick<Engine, 'store'>, scope: BudgetScope): BudgetState {
  const row = engine.store.read('budget-get', { scope: scope.id })[0];
  if (row === undefined) return { used: 0, held: 0, limit: scope.limit };
  const cap = row['cap_milli'];
  return {
    used: Number(row['spent_milli']) / 1000,
    held: Number(row['held_milli']) / 1000,
    limit: cap === null || cap === undefined ? 'unlimited' : Number(cap) / 1000,
  };
}

function leftIn(engine: Engine, scope: BudgetScope): number | 'unlimited' {
  const state = budgetState(engine, scope);
  return state.limit === 'unlimited' ? 'unlimited' : Math.max(0, Math.floor(state.limit - state.used - state.held));
}
