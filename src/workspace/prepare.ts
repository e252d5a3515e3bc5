import { mkdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { messageOf, OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import type { TreeDoor } from '../git/tree-door.ts';
import { type Anchor, anchorDirectory } from './anchor.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { type Inspection, inspectTree, type Tracked } from './inspect.ts';
import { recordTree } from './record.ts';
import { removeTree } from './remove-tree.ts';
import { absoluteBytes, baseName, directoriesAbove, parentPath } from './tree-path.ts';

export interface Preparation {
  readonly store: StoreGit;
  readonly root: string;
  readonly index: string;
  readonly door: TreeDoor;
  readonly tree: ObjectId;
  /** The tree that was seen there last: when it is the wanted one, looking comes before checking out. */
  readonly seen: ObjectId | undefined;
  /** The entries of `tree`. */
  readonly tracked: Tracked;
  readonly rules: IgnoreRules;
}

/**
 * Makes the files equal to `tree`; ignored files stay. Proved at the end by hashing the result. What an earlier agent
 * left (nested repositories, read-only directories, FIFOs) is removed.
 */
export async function makeTreeEqual(preparation: Preparation): Promise<Inspection> {
  const { root, door, tracked, rules, tree } = preparation;
  await rm(`${preparation.index}.lock`, { force: true });
  const before = await inspectTree(root, { tracked, rules, repair: true });
  const removed = await removeLeftovers(root, { inspection: before, tracked, rules });
  if (preparation.seen === tree && removed === 0 && (await holds(preparation, before))) return before;
  await door.checkOut(tree);
  const after = await inspectTree(root, { tracked, rules, repair: false });
  const result = await recordTree(preparation, after);
  if (result === tree) return after;
  throw new OrchestratorError(
    'failed',
    `the files in ${root} do not become those of tree ${tree} (${result} instead). Is something else writing there, or does the disk fold file names?`,
  );
}

/** Whether the files are those of `tree` already; what cannot be recorded is put right by checking out. */
async function holds(preparation: Preparation, inspection: Inspection): Promise<boolean> {
  const found = await recordTree(preparation, inspection).catch(() => undefined);
  return found === preparation.tree;
}

/** The same for a slot nobody works in: where the old tree resists, a new one takes its place. */
export async function prepareSlot(preparation: Preparation): Promise<Inspection> {
  try {
    return await makeTreeEqual(preparation);
  } catch (first) {
    await replaceDirectory(preparation);
    try {
      return await makeTreeEqual(preparation);
    } catch (second) {
      throw new OrchestratorError('failed', `cannot prepare the workspace ${preparation.root}: ${messageOf(second)}`, {
        cause: second,
        details: [`first attempt: ${messageOf(first)}`],
      });
    }
  }
}

async function replaceDirectory({ root, index }: Preparation): Promise<void> {
  const trash = `${root}.old`;
  await removeTree(Buffer.from(trash));
  await rename(root, trash);
  await mkdir(root, { mode: 0o700 });
  await rm(index, { force: true });
  await removeTree(Buffer.from(trash)).catch(() => undefined); // tried again when the slot is replaced next time
}

/** Answers how many things had to go. */
async function removeLeftovers(
  root: string,
  options: { inspection: Inspection; tracked: Tracked; rules: IgnoreRules },
): Promise<number> {
  const { inspection, tracked, rules } = options;
  const { walk } = inspection;
  const ignored = await rules.ignored([...walk.special, ...walk.directories.map(insideOf)]);
  const unwanted = [
    ...inspection.counted.filter((path) => !tracked.has(path)),
    ...walk.special.filter((path) => !ignored.has(path)),
  ];
  await inDirectories(root, unwanted, (anchor, name) => unlink(absoluteBytes(anchor.path, name)));
  await inDirectories(root, inspection.nestedRepositories, (anchor, name) =>
    removeTree(absoluteBytes(anchor.path, name)),
  );
  const gone = new Set([...unwanted, ...inspection.nestedRepositories]);
  const kept = [...walk.files, ...walk.special, ...walk.gitEntries, ...tracked.keys()].filter(
    (path) => !gone.has(path),
  );
  const needed = directoriesAbove(kept);
  const empty = walk.directories.filter(
    (path) => !needed.has(path) && !tracked.has(path) && !ignored.has(insideOf(path)),
  );
  const deepestFirst = empty.toReversed();
  for (const path of deepestFirst) {
    await inDirectories(root, [path], (anchor, name) => rmdir(absoluteBytes(anchor.path, name)));
  }
  return gone.size + deepestFirst.length;
}

/** A path whose answer tells whether the directory itself is ignored: git takes the parents for directories. */
function insideOf(directory: RepoPath): RepoPath {
  return `${directory}/.orchestrator-probe` as RepoPath;
}

async function inDirectories(
  root: string,
  paths: readonly RepoPath[],
  act: (anchor: Anchor, name: RepoPath) => Promise<void>,
): Promise<void> {
  for (const [directory, members] of Map.groupBy(paths, parentPath)) {
    const anchor = await anchorDirectory(root, directory, { make: false });
    if (anchor === undefined) continue;
    try {
      for (const path of members) await act(anchor, baseName(path)).catch(ignoreAbsent);
    } finally {
      await anchor.close();
    }
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTEMPTY') throw error;
}
