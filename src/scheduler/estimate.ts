import type { RoleName } from '../domain/ids.ts';
import type { Run, Task } from '../domain/run.ts';
import type { TokenLimit } from '../policy/policy.ts';
import type { Engine } from './engine.ts';

export interface Estimate {
  readonly text: string;
  readonly withinBudget: boolean;
}

/** Tokens, turns and money that a plan may cost: what the same roles used per step so far, else their budgets. */
export function estimateOf(engine: Engine, run: Run, tasks: readonly Task[]): Estimate {
  const roles = tasks.flatMap((task) => task.plan.steps);
  const seen = new Map(roles.map((role) => [role, averageOf(engine, role)]));
  const tokens = roles.reduce((sum, role) => sum + (seen.get(role)?.tokens ?? 0), 0);
  const turns = roles.reduce((sum, role) => sum + (seen.get(role)?.turns ?? 0), 0);
  const unknown = [...new Set(roles.filter((role) => seen.get(role) === undefined))];
  const limit = engine.policies.active().global.limits.runTokens;
  const withinBudget = limit === 'unlimited' || tokens <= limit;
  const atMost = unknown.map((role) => `${role} at most ${show(budgetOf(engine, run, role))} a task`);
  const known = roles.every((role) => seen.get(role) === undefined)
    ? []
    : [`about ${show(Math.round(tokens))} tokens in ${Math.round(turns)} turns, money ${money(roles, seen)}`];
  return {
    text: `Estimate: ${[...known, ...(atMost.length > 0 ? [`no history yet: ${atMost.join(', ')}`] : [])].join('; ')}. Budget of the run: ${show(limit)}.`,
    withinBudget,
  };
}

interface Average {
  readonly tokens: number;
  readonly turns: number;
  readonly usd: number | undefined;
}

function averageOf(engine: Engine, role: RoleName): Average | undefined {
  const row = engine.store.read('call-average-by-role', { role })[0];
  if (row === undefined || Number(row['agents']) === 0) return undefined;
  const agents = Number(row['agents']);
  return {
    tokens: Number(row['work_milli']) / 1000 / agents,
    turns: Number(row['calls']) / agents,
    usd: Number(row['priced']) === Number(row['calls']) ? Number(row['usd_micros']) / 1e6 / agents : undefined,
  };
}

function budgetOf(engine: Engine, run: Run, role: RoleName): TokenLimit {
  return engine.policies.pinned(run).roles.get(role)?.budget.task ?? 'unlimited';
}

/** `?` as soon as one price is unknown: a partial sum would look like the whole. */
function money(roles: readonly RoleName[], seen: ReadonlyMap<RoleName, Average | undefined>): string {
  let sum = 0;
  for (const role of roles) {
    const usd = seen.get(role)?.usd;
    if (usd === undefined) return '?';
    sum += usd;
  }
  return `$${sum.toFixed(2)}`;
}

function show(limit: TokenLimit): string {
  return limit === 'unlimited' ? 'unlimited' : limit.toLocaleString('en-US');
}
