import type { Status } from '../api/backend.ts';
import { readConflicts } from '../checkpoints/records.ts';
import type { RunId, TaskId } from '../domain/ids.ts';
import { FINAL_STATES } from '../domain/run.ts';
import { keyTail } from '../policy/env-file.ts';
import type { RolePolicy } from '../policy/policy.ts';
import { budgetState, dayOf, scopesOf } from './budgets.ts';
import type { Engine } from './engine.ts';
import { readRuns } from './records.ts';

/** What the daemon knows of itself. */
export interface DaemonFacts {
  readonly pid: number;
  readonly version: string;
  readonly since: number;
  readonly socket: string;
  readonly warnings: readonly string[];
}

export async function statusOf(engine: Engine, daemon: DaemonFacts): Promise<Status> {
  const { watcher } = engine;
  return {
    daemon: {
      pid: daemon.pid,
      version: daemon.version,
      since: daemon.since,
      socket: daemon.socket,
      gatewayUrl: engine.gateway.url,
      sandbox: engine.sandbox.probe.mode,
      warnings: [...daemon.warnings],
    },
    roles: [...engine.policies.active().roles.values()].map((policy) => roleStatus(engine, policy)),
    runs: readRuns(engine.store)
      .filter((run) => !FINAL_STATES.has(run.state))
      .map((run) => ({ id: run.id, state: run.state, request: run.request })),
    checkpoints: engine.checkpoints.list({ all: false }).length,
    watcher: { mode: watcher.mode, trees: watcher.trees, lastEventAt: watcher.lastEventAt ?? null },
    disk: { workspacesBytes: await engine.pool.diskBytes(), storeBytes: await engine.git.diskBytes() },
    conflicts: readConflicts(engine.store).filter((conflict) => conflict.state !== 'resolved'),
  };
}

function roleStatus(engine: Engine, policy: RolePolicy): Status['roles'][number] {
  const day = dayOf(engine.clock.now());
  const { limits } = engine.policies.active().global;
  const scopes = scopesOf({ run: '' as RunId, task: '' as TaskId, policy, limits, day });
  const scope = scopes.find((each) => each.id.startsWith('day-role:'));
  const budget = scope === undefined ? { used: 0, held: 0, limit: 'unlimited' as const } : budgetState(engine, scope);
  return {
    role: policy.role,
    runner: policy.runner,
    model: policy.model.id ?? '',
    keyTail: tailOf(engine, policy),
    budget: { ...budget, window: `day ${day}` },
  };
}

function tailOf(engine: Engine, policy: RolePolicy): string {
  try {
    return keyTail(engine.policies.key(policy));
  } catch {
    return 'missing';
  }
}
