import { OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { TreeDoor } from '../git/tree-door.ts';
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

/**
 * The tree object of what an inspection found. The index follows the inspection exactly, so that nothing in the tree
 * (ignore files, flags, nested repositories, forged times) can hide a path.
 */
export async function recordTree(root: string, door: TreeDoor, inspection: Inspection): Promise<ObjectId> {
  const counted = new Set(inspection.counted);
  const directories = new Set(inspection.walk.directories);
  const absent = (await door.indexed())
    .filter(({ path, mode }) => !counted.has(path) && !(mode === GITLINK && directories.has(path)))
    .map(({ path }) => path);
  const refused = await door.record(inspection.counted, absent);
  if (refused.length > 0) {
    const names = refused.map((name) => `"${escapeForDisplay(name)}"`).join(', ');
    throw new OrchestratorError(
      'failed',
      `git refuses to hold ${names} of the workspace ${root}. Nothing was judged; rename or remove it.`,
    );
  }
  return door.writeTree();
}

const GITLINK = '160000';

function gitlinksOf(tracked: Tracked): ReadonlySet<RepoPath> {
  return new Set([...tracked].filter(([, mode]) => mode === GITLINK).map(([path]) => path));
}
