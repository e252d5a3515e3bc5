import { resolve } from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { findOrdinaryRepository } from './ordinary-repository.ts';

export interface Repository {
  /** Top of the work tree that the command was called in. */
  readonly root: string;
  readonly commonDirectory: string;
}

/**
 * The repository around `io.cwd`. At most one git call and no imports beyond node's: every command begins with it, and
 * the git room costs more to load than most commands take.
 */
export async function findRepository(io: Io): Promise<Repository> {
  return findOrdinaryRepository(io.cwd, io.uid) ?? askGit(io);
}

async function askGit(io: Io): Promise<Repository> {
  const lines = (await revParse(io, ['--show-toplevel', '--git-common-dir'])).split('\n');
  const [root, commonDirectory] = lines.length === 2 ? lines : await askOneByOne(io);
  if (!root || !commonDirectory) {
    throw new OrchestratorError(
      'configuration',
      `git does not say where the work tree of ${io.cwd} is: a bare repository has none`,
    );
  }
  return { root: representable(root), commonDirectory: representable(resolve(commonDirectory)) };
}

/** A path that holds a newline can't be told from two. */
function askOneByOne(io: Io): Promise<readonly string[]> {
  return Promise.all([revParse(io, ['--show-toplevel']), revParse(io, ['--git-common-dir'])]);
}

async function revParse(io: Io, questions: readonly string[]): Promise<string> {
  try {
    // Without GIT_DIR and friends: a command that a hook calls means the directory, not the hook's repository.
    const { userEnvironment } = await import('../git/user-environment.ts');
    const command = ['rev-parse', '--path-format=absolute', ...questions];
    const { execFile } = await import('node:child_process');
    const { promisify } = await import('node:util');
    const { stdout } = await promisify(execFile)('git', command, { cwd: io.cwd, env: userEnvironment(io.env) });
    return stdout.replace(/\n$/, '');
  } catch (cause) {
    throw new OrchestratorError('configuration', explain(cause as GitFailure, io.cwd), { cause });
  }
}

/** Node opens files by text, so a name that is no UTF-8 would be another name. */
function representable(path: string): string {
  if (!path.includes('\uFFFD')) return path;
  throw new OrchestratorError('configuration', `the path ${path} is not valid UTF-8: rename the directory`);
}

type GitFailure = NodeJS.ErrnoException & { readonly stderr?: string };

function explain(cause: GitFailure, cwd: string): string {
  if (cause.code === 'ENOENT') return `cannot run git in ${cwd}: the directory does not exist, or git is not installed`;
  const reason = (cause.stderr ?? '').trim();
  if (/not a git repository/i.test(reason) || reason === '') {
    return `${cwd} is not inside a git work tree: go to your checkout, or name it with -C`;
  }
  return `git cannot use the repository at ${cwd}: ${reason}`;
}
