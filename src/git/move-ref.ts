import { OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import { type ObjectId, ZERO_OBJECT_ID } from '../domain/ids.ts';
import type { GitDoor } from './command.ts';
import { resolveObject, setRef } from './revisions.ts';

/** True when the ref moved, false when it was not at `old`. Anything else (a held lock, a colliding name) throws. */
export async function changeRef(
  door: GitDoor,
  change: { ref: string; next: ObjectId | undefined; old: ObjectId | undefined },
): Promise<boolean> {
  const outcome = await door(setRef(change));
  if (outcome.exitCode === 0) return true;
  if (change.old !== undefined) {
    const found = (await door(resolveObject(change.ref, 'object'))) ?? ZERO_OBJECT_ID;
    if (found !== change.old) return false;
  }
  const reason = escapeForDisplay(outcome.stderr.trim());
  throw new OrchestratorError(
    'failed',
    `cannot move ${change.ref}: ${reason}. If another git command is running, wait for it; if a branch name is in the way, rename that branch.`,
  );
}
