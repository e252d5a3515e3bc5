import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { type SimpleGit, simpleGit } from 'simple-git';
import { messageOf, OrchestratorError } from '../domain/errors.ts';
import { USER_CONFIG, userEnvironment } from './user-environment.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface FoundRepository {
  /** Canonical top of the work tree. */
  readonly root: string;
  /** Canonical common git directory, the same for all linked work trees. */
  readonly commonDirectory: string;
  /** Canonical git directory of this work tree. */
  readonly gitDirectory: string;
  readonly objectsDirectory: string;
}

/**
 * The repository around `directory`, undefined when there is none. A bare repository, or one that git refuses to use
 * (other owner), is a `configuration` error with git's reason.
 */
export async function findRepository(
  directory: string,
  { environment }: { environment: Environment },
): Promise<FoundRepository | undefined> {
  if (!existsSync(directory)) {
    throw new OrchestratorError(
      'configuration',
      `there is no directory ${directory}, or its name is not valid UTF-8: name your checkout with -C`,
    );
  }
  const git = openUserGit(directory, environment);
  const [root, common, own, objects] = await Promise.all([
    ask(git, directory, ['--show-toplevel']),
    ask(git, directory, ['--path-format=absolute', '--git-common-dir']),
    ask(git, directory, ['--path-format=absolute', '--git-dir']),
    ask(git, directory, ['--path-format=absolute', '--git-path', 'objects']),
  ]);
  if (root === undefined || common === undefined || own === undefined || objects === undefined) return undefined;
  return {
    root: await realpath(root),
    commonDirectory: await realpath(common),
    gitDirectory: await realpath(own),
    objectsDirectory: await realpath(objects),
  };
}

/** simple-git for questions whose answers are text, with our settings and only what the user's environment may say. */
export function openUserGit(directory: string, environment: Environment): SimpleGit {
  const variables = userEnvironment(environment);
  return simpleGit({
    baseDir: directory,
    config: [...USER_CONFIG],
    allowEnvironment: Object.keys(variables),
    unsafe: {
      allowUnsafeHooksPath: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeConfigEnvCount: true,
    },
  }).env(variables);
}

async function ask(git: SimpleGit, directory: string, question: string[]): Promise<string | undefined> {
  try {
    return (await git.raw('rev-parse', ...question)).replace(/\n$/, '');
  } catch (error) {
    const reason = messageOf(error).trim();
    if (/not a git repository/i.test(reason)) return undefined;
    throw new OrchestratorError('configuration', `git cannot use the repository at ${directory}: ${reason}`, {
      cause: error,
    });
  }
}
