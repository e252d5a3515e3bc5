import { execFileSync } from 'node:child_process';
import path from 'node:path';
import type { StoreGit, UserRepository } from './git/git.ts';
import { toolchainPaths } from './sandbox/toolchain.ts';

interface Surroundings {
  readonly execPath: string;
  readonly packageRoot: string;
  readonly homeDirectory: string;
}

/** Read-only binds of every view: toolchains, the package, object stores. */
export function toolchains(options: Surroundings, git: StoreGit, searchPath: string): readonly string[] {
  const found = toolchainPaths({
    path: searchPath,
    execPath: options.execPath,
    packageRoot: options.packageRoot,
    home: options.homeDirectory,
  });
  return [...found, ...git.objectDirectories];
}

/** The main work tree, when this one is linked to it. */
export function worktreeOf(user: UserRepository): string {
  return path.basename(user.commonDirectory) === '.git' ? path.dirname(user.commonDirectory) : user.commonDirectory;
}

export function gitVersion(searchPath: string): string {
  return execFileSync('git', ['--version'], { encoding: 'utf8', env: { PATH: searchPath } })
    .trim()
    .replace('git version ', '');
}

/** Variables whose name begins with `prefix`, the state directory's left out. */
export function prefixed(
  environment: Readonly<Record<string, string | undefined>>,
  prefix: string,
): ReadonlyMap<string, string> {
  const entries = Object.entries(environment).filter(
    ([name]) => name.startsWith(prefix) && name !== 'ORCHESTRATOR_STATE_DIR',
  );
  return new Map(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}
