import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { type Check, found } from '../../domain/check.ts';
import { OrchestratorError } from '../../domain/errors.ts';
import type { PolicySet, RolePolicy } from '../../policy/policy.ts';
import type { StateDirectory } from '../../store/state-directory.ts';
import type { Io } from '../io.ts';
import { defined } from '../program/verb.ts';

interface Given {
  readonly state: StateDirectory;
  readonly role: string | undefined;
  /** Undefined when the policies cannot be used: then nobody is asked. */
  readonly roles: { readonly set: PolicySet; readonly list: readonly RolePolicy[] } | undefined;
  readonly variables: ReadonlyMap<string, string>;
}

/** The requests. Only who holds the daemon lock may write the ledger: the daemon where one runs, else this process. */
export async function modelChecks(io: Io, given: Given): Promise<readonly Check[]> {
  const answer = await askDaemon(io, given);
  if (answer !== undefined) return answer;
  const { roles } = given;
  const isThere = (await stat(given.state.directory).catch(() => undefined))?.isDirectory() === true;
  return roles === undefined || !isThere ? [] : askAlone(io, { ...given, roles });
}

/** Undefined when no daemon listens. */
async function askDaemon(io: Io, { state, role }: Given): Promise<readonly Check[] | undefined> {
  const { connectApi } = await import('../../api/client.ts');
  try {
    const api = await connectApi(state.socket, { uid: io.uid, signal: io.signal });
    try {
      return await api.doctor(defined('role', role));
    } finally {
      api.close();
    }
  } catch (error) {
    if (error instanceof OrchestratorError && error.code === 'no-daemon') return undefined;
    throw error;
  }
}

async function askAlone(io: Io, given: Given & { roles: NonNullable<Given['roles']> }): Promise<readonly Check[]> {
  const { acquireDaemonLock } = await import('../../store/sqlite/lock.ts');
  const lock = await acquireDaemonLock(given.state.lock);
  if ('heldBy' in lock) return [lockedCheck(lock.heldBy.pid, given.state)];
  try {
    return await askWithLedger(io, given);
  } finally {
    lock.release();
  }
}

async function askWithLedger(io: Io, { state, roles, variables }: Given & { roles: NonNullable<Given['roles']> }) {
  const { openSqliteStore } = await import('../../store/sqlite/open.ts');
  const { openPreflight } = await import('../../gateway/preflight/open-preflight.ts');
  const { askRoles } = await import('../../gateway/preflight/ask-roles.ts');
  const { recoverCalls } = await import('../../gateway/recover-calls.ts');
  const { cataloguePrice } = await import('../../gateway/prices.ts');
  const clock = { now: io.now };
  const store = await openSqliteStore({ path: state.db, nowMs: io.now() });
  try {
    await recoverCalls(store, { clock, prices: cataloguePrice });
    const { maxInFlightPerKey } = roles.set.global.gateway;
    const preflight = openPreflight({ store, clock, random, log: SILENT, maxInFlightPerKey });
    try {
      return await askRoles(preflight, { set: roles.set, roles: roles.list, variables, clock }, io.signal);
    } finally {
      await preflight.stop();
    }
  } finally {
    await store.close();
  }
}

function random(length: number): string {
  return randomBytes(length).toString('hex').slice(0, length);
}

/** A settlement that waits is written by the next daemon. */
const SILENT = { info: () => undefined, warn: () => undefined };

function lockedCheck(pid: number | undefined, { socket }: StateDirectory): Check {
  return found('daemon', {
    level: 'error',
    symptom: `process ${pid ?? '?'} holds the daemon lock, and nobody answers at ${socket}`,
    cause: 'a daemon is starting or stopping, or another doctor is at work; no model was asked',
    remedy: 'wait a moment and try again; `orchestrator logs` tells what a daemon does',
  });
}
