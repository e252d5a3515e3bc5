import { setTimeout as sleep } from 'node:timers/promises';
import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { Owner, Workspace } from '../workspace/workspace.ts';
import type { Engine } from './engine.ts';

const POLL_MS = 250;
const LIMIT_MS = 6 * 60 * 60_000;

/** A workspace for the daemon's own work (verify, land): waits until an agent gives a slot back. */
export async function waitForSlot(
  engine: Engine,
  owner: Owner,
  start: { commit: ObjectId; tree: ObjectId },
): Promise<Workspace> {
  for (let waited = 0; waited < LIMIT_MS; waited += POLL_MS) {
    const workspace = await engine.pool.acquire(owner, start);
    if (workspace !== undefined) return workspace;
    await sleep(POLL_MS);
  }
  throw new OrchestratorError(
    'failed',
    'no workspace slot became free for six hours; raise workspace.slots in policies/global.yaml',
  );
}
