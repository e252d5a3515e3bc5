import path from 'node:path';
import type { Backend } from './api/backend.ts';
import { prefixed } from './daemon-surroundings.ts';
import { type Check, found, passed } from './domain/check.ts';
import { OrchestratorError } from './domain/errors.ts';
import { askRoles } from './gateway/preflight/ask-roles.ts';
import type { Preflight } from './gateway/preflight/preflight.ts';
import { loadPolicySet } from './policy/load.ts';
import type { PolicySet, RolePolicy } from './policy/policy.ts';
import { resolveRole } from './policy/start-check.ts';
import type { Engine } from './scheduler/engine.ts';

export interface DoctorOptions {
  readonly preflight: Preflight;
  /** The checkout. */
  readonly repository: string;
  readonly readVariables: () => ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The daemon's part of `doctor`: it alone may write the ledger, so it asks. Files that are wrong are the client's part. */
export function doctorOf(engine: Engine, options: DoctorOptions): Backend['doctor'] {
  return async ({ role }, signal = new AbortController().signal) => {
    const loaded = loadFromDisk(options);
    if (loaded === undefined) return [...watcherChecks(engine)];
    const { set, variables } = loaded;
    const roles = role === undefined ? pipelineOf(set) : [roleNamed(set, role)];
    const asked = await askRoles(options.preflight, { set, roles, variables, clock: engine.clock }, signal);
    return [...watcherChecks(engine), ...staleChecks(engine, loaded), ...asked];
  };
}

interface OnDisk {
  readonly set: PolicySet;
  readonly variables: ReadonlyMap<string, string>;
}

function loadFromDisk({ repository, readVariables, environment }: DoctorOptions): OnDisk | undefined {
  try {
    const variables = readVariables();
    const directory = path.join(repository, 'policies');
    const loaded = loadPolicySet({ directory, variables, environment: prefixed(environment, 'ORCHESTRATOR_') });
    return loaded.ok ? { set: loaded.set, variables } : undefined;
  } catch (error) {
    if (error instanceof OrchestratorError && error.code === 'configuration') return undefined;
    throw error;
  }
}

function pipelineOf(set: PolicySet): readonly RolePolicy[] {
  return set.global.pipeline.flatMap((name) => set.roles.get(name) ?? []);
}

function roleNamed(set: PolicySet, name: string): RolePolicy {
  const role = resolveRole(set, name);
  if (role !== undefined) return role;
  throw new OrchestratorError('usage', `there is no role ${name}; roles: ${[...set.roles.keys()].join(', ')}`);
}

/** What was asked is what is on disk; agents go on with what the daemon has read. */
function staleChecks({ policies }: Engine, { set }: OnDisk): readonly Check[] {
  const active = policies.active();
  if (active.digest === set.digest) return [];
  const { baseUrl } = set.global.gateway;
  const isElsewhere = baseUrl !== active.global.gateway.baseUrl;
  return [
    found('daemon policies', {
      level: 'warning',
      symptom: 'the policies or the .env on disk are not those that the daemon uses',
      cause: isElsewhere ? 'the base URL was changed after its start' : 'they were edited after it read them',
      remedy: isElsewhere ? 'orchestrator stop, then orchestrator start' : 'orchestrator policy reload',
    }),
  ];
}

function watcherChecks({ watcher, sandbox }: Engine): readonly Check[] {
  if (watcher.mode === 'events') return [passed('daemon', `runs; sandbox ${sandbox.probe.mode}, watching by events`)];
  return [
    found('daemon', {
      level: 'warning',
      symptom: 'the daemon polls the trees instead of hearing of changes',
      cause: 'inotify watches ran out while it ran',
      remedy: 'raise fs.inotify.max_user_watches, then orchestrator stop and orchestrator start',
    }),
  ];
}
