import { cpSync, renameSync, rmSync } from 'node:fs';

/**
 * Keeps the policies that hold now outside the work tree: runs pin them from here, and `init --restore` brings them
 * back after a `git clean -fdx`. Made aside and renamed, so that a crash leaves a whole copy, old or new.
 */
export function keepPolicyCopy(from: string, to: string): void {
  const next = `${to}.new`;
  const old = `${to}.replaced`;
  rmSync(next, { recursive: true, force: true });
  cpSync(from, next, { recursive: true, dereference: true });
  rmSync(old, { recursive: true, force: true });
  moveAway(to, old);
  renameSync(next, to);
  rmSync(old, { recursive: true, force: true });
}

function moveAway(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
