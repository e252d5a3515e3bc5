import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';

export interface Repository {
  /** Top of the work tree that the command was called in. */
  readonly root: string;
  readonly commonDirectory: string;
}

const run = promisify(execFile);

/**
 * The repository around `io.cwd`. One git call and no imports beyond node's: every command begins with it, and the git
 * room costs more to load than most commands take.
 */
export async function findRepository(io: Io): Promise<Repository> {
  const arguments_ = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'];
  try {
    // Without GIT_DIR and friends: a command that a hook calls means the directory, not the hook's repository.
    const { userEnvironment } = await import('../git/user-environment.ts');
    const { stdout } = await run('git', arguments_, { cwd: io.cwd, env: userEnvironment(io.env) });
    const [root, commonDirectory] = stdout.split('\n');
    if (root && commonDirectory) return { root, commonDirectory: resolve(commonDirectory) };
  } catch (cause) {
    throw new OrchestratorError('configuration', explain(cause as NodeJS.ErrnoException, io.cwd), { cause });
  }
  throw new OrchestratorError(
    'configuration',
    `git does not say where the work tree of ${io.cwd} is: a bare repository has none`,
  );
}

function explain(cause: NodeJS.ErrnoException, cwd: string): string {
  if (cause.code !== 'ENOENT') return `${cwd} is not inside a git work tree: go to your checkout, or name it with -C`;
  return `cannot run git in ${cwd}: the directory does not exist, or git is not installed`;
}
