import { lstat, mkdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, ObjectId, RunId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import { openTreeDoor, type TreeDoor } from '../git/tree-door.ts';
import { installAgentRepository } from './agent-repository.ts';
import { type IgnoreRules, openIgnoreRules } from './ignore-rules.ts';
import type { Tracked } from './inspect.ts';
import { readNeverState } from './never-state.ts';
import { type Preparation, prepareSlot } from './prepare.ts';
import { removeTree } from './remove-tree.ts';
import type { SnapshotContext } from './snapshot.ts';
import type { Owner } from './workspace.ts';

export interface PoolOptions {
  /** Where slots lie, `workspaces/` of the state directory; canonical. */
  readonly directory: string;
  readonly slots: number;
  readonly store: StoreGit;
  /** `runs/<run>/staging` of a run. */
  stagingFor(run: RunId): string;
  readonly clock: Clock;
  /** The `never` list of the policy. */
  isNever(path: RepoPath): boolean;
  /** The tree whose ignore rules hold in a run; the start tree when undefined is answered. */
  ignoreBaseTree(run: RunId): Promise<ObjectId | undefined>;
  /** `shallow` of the user's repository; copied when it exists. */
  readonly shallowFile?: string;
  /** The PATH in which git is found. */
  readonly searchPath?: string;
}

/** One place on disk: `tree` is the agent's, everything else beside it the daemon's. */
export interface Slot {
  readonly name: string;
  readonly directory: string;
  readonly root: string;
  readonly scratch: string;
  readonly index: string;
}

export function slotAt(directory: string, name: string): Slot {
  const own = join(directory, name);
  return { name, directory: own, root: join(own, 'tree'), scratch: join(own, 'scratch'), index: join(own, 'index') };
}

export interface PreparedSlot {
  readonly preparation: Preparation;
  readonly context: SnapshotContext;
}

/** What is still known of a slot's last use, to make the next one cheap. What it says is proved before it counts. */
export interface SlotMemory {
  readonly door: TreeDoor;
  readonly rules: IgnoreRules | undefined;
  /** The tree that was last seen in it. */
  readonly tree: ObjectId | undefined;
}

export function freshMemory({ store, searchPath }: PoolOptions, slot: Slot): SlotMemory {
  const door = openTreeDoor({ storeDirectory: store.directory, workTree: slot.root, index: slot.index, searchPath });
  return { door, rules: undefined, tree: undefined };
}

/** Brings a free slot to the start of a step. */
export async function fillSlot(
  options: PoolOptions,
  slot: Slot,
  use: { owner: Owner; start: { commit: ObjectId; tree: ObjectId }; known: SlotMemory },
): Promise<PreparedSlot> {
  const { store, searchPath } = options;
  const { commit, tree } = use.start;
  await makeDirectories(slot);
  const preparation: Preparation = {
    store,
    root: slot.root,
    index: slot.index,
    door: use.known.door,
    tree,
    seen: use.known.tree,
    tracked: await trackedIn(store, tree),
    rules: await rulesFor(options, slot, use),
  };
  await removeTree(Buffer.from(join(slot.root, '.git')));
  const inspection = await prepareSlot(preparation);
  await installAgentRepository({
    store,
    searchPath,
    slotDirectory: slot.directory,
    root: slot.root,
    index: slot.index,
    commit,
    tree,
    shallowFile: options.shallowFile,
  });
  const neverAtStart = await readNeverState(slot.root, inspection.untracked.filter(options.isNever));
  const { root, door, tracked, rules } = preparation;
  return { preparation, context: { store, root, door, tracked, rules, neverAtStart, isNever: options.isNever } };
}

/** A link in place of the tree would lead every later step, removals included, to its target. */
async function makeDirectories(slot: Slot): Promise<void> {
  await mkdir(slot.directory, { recursive: true, mode: 0o700 });
  const found = await lstat(slot.root).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) await unlink(slot.root);
  await mkdir(slot.root, { recursive: true, mode: 0o700 });
  await removeTree(Buffer.from(slot.scratch));
  await mkdir(slot.scratch, { mode: 0o700 });
}

export async function trackedIn(store: StoreGit, tree: ObjectId): Promise<Tracked> {
  return new Map((await store.listTree(tree)).map(({ path, mode }) => [path, mode]));
}

async function rulesFor(
  options: PoolOptions,
  slot: Slot,
  use: { owner: Owner; start: { tree: ObjectId }; known: SlotMemory },
): Promise<IgnoreRules> {
  const base = (await options.ignoreBaseTree(use.owner.run)) ?? use.start.tree;
  if (use.known.rules?.base === base) return use.known.rules;
  const { store, searchPath } = options;
  return openIgnoreRules({ store, base, shadow: join(slot.directory, 'ignore'), searchPath });
}
