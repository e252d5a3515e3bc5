import { lstat } from 'node:fs/promises';
import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import { pathToBytes, type RepoPath } from '../domain/path.ts';
import { runGit } from '../git/run-git.ts';
import { userEnvironment } from '../git/user-environment.ts';

/**
 * Forwards the checked-out branch (or a detached HEAD) of the user's tree, as `git merge --ff-only` does: git checks
 * everything before it touches a file, keeps unrelated uncommitted work, and here also refuses to overwrite ignored
 * files. The user's own configuration applies (filters, line ends), hooks and background maintenance do not.
 */
export async function fastForwardCheckout(options: {
  directory: string;
  commit: ObjectId;
  environment: Readonly<Record<string, string | undefined>>;
}): Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }> {
  const { directory, commit, environment } = options;
  const env = userEnvironment(environment);
  const run = { cwd: directory, env, input: undefined, maxBytes: 16 * 1024 * 1024 };
  try {
    const { exitCode, stderr } = await runGit([...QUIET_CONFIG, ...FORWARD, commit], run);
    return exitCode === 0 ? { ok: true } : { ok: false, reason: stderr.toString('utf8').trim() };
  } catch (cause) {
    const message = `git could not be run in ${directory}; check that it is on PATH.`;
    throw new OrchestratorError('failed', message, { cause });
  }
}

const QUIET_CONFIG = [
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'],
  ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'],
];
const FORWARD = [
  ...['merge', '--ff-only', '--no-squash', '--no-autostash', '--no-verify-signatures', '--no-overwrite-ignore'],
  ...['--no-stat', '--quiet'],
];

/** Of the given paths those where something lies in the tree, whatever it is; links are not followed. */
export async function existingPaths(directory: string, paths: readonly RepoPath[]): Promise<readonly RepoPath[]> {
  const found: RepoPath[] = [];
  for (const path of paths) {
    if (await exists(Buffer.concat([Buffer.from(`${directory}/`), pathToBytes(path)]))) found.push(path);
  }
  return found;
}

async function exists(file: Buffer): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    // ENOTDIR: a parent is a file, which is not this path but is in its way; git judges that.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return false;
    throw error;
  }
}
