import type { RepoPath } from '../domain/path.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { type TreeWalk, walkTree } from './walk.ts';

/** Paths that are never ignored because a tree the step builds on holds them, with their mode. */
export type Tracked = ReadonlyMap<RepoPath, string>;

export interface Inspection {
  readonly walk: TreeWalk;
  /** Files and links that count: tracked, or not excluded by the base's rules. */
  readonly counted: readonly RepoPath[];
  /** Files and links that are not tracked, ignored or not. */
  readonly untracked: readonly RepoPath[];
  /** Nested `.git` entries outside ignored directories. */
  readonly nestedRepositories: readonly RepoPath[];
}

/** Looks at a tree without changing anything but, with `repair`, modes of directories that block the owner. */
export async function inspectTree(
  root: string,
  options: { readonly tracked: Tracked; readonly rules: IgnoreRules; readonly repair: boolean },
): Promise<Inspection> {
  const { tracked, rules } = options;
  const walk = await walkTree(root, { opaque: gitlinksOf(tracked), repair: options.repair });
  const untracked = walk.files.filter((path) => !tracked.has(path));
  const ignored = await rules.ignored([...untracked, ...walk.gitEntries]);
  return {
    walk,
    counted: walk.files.filter((path) => tracked.has(path) || !ignored.has(path)),
    untracked,
    nestedRepositories: walk.gitEntries.filter((path) => !ignored.has(path)),
  };
}

/** Mode of a submodule's entry. */
export const GITLINK = '160000';

function gitlinksOf(tracked: Tracked): ReadonlySet<RepoPath> {
  return new Set([...tracked].filter(([, mode]) => mode === GITLINK).map(([path]) => path));
}
