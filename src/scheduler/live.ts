import type { ObjectId, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import { findOverlaps, findTextualConflicts } from '../watch/conflicts.ts';
import type { LiveTree, LiveTrees } from './engine.ts';

/** Two running tasks that changed one path. `textual` when a merge of their snapshots does not go through there. */
export interface LiveOverlap {
  readonly run: RunId;
  readonly tasks: readonly [TaskId, TaskId];
  readonly roles: readonly [LiveTree['role'], LiveTree['role']];
  readonly paths: readonly RepoPath[];
  readonly kind: 'overlap' | 'textual';
}

/** Keeps the latest tree of every running task and tells the listener when two of them meet. */
export function openLiveTrees(options: {
  git: StoreGit;
  onOverlap: (overlap: LiveOverlap) => Promise<void>;
  /** A task that has the other's result already (it started from it) can't be in conflict with it. */
  isIndependent: (run: RunId, first: TaskId, second: TaskId) => boolean;
}): LiveTrees {
  const trees = new Map<string, LiveTree>();
  let looked: Promise<void> = Promise.resolve();

  async function look(tree: LiveTree): Promise<void> {
    const others = [...trees.values()].filter((other) => other.run === tree.run && other.task !== tree.task);
    for (const other of others) {
      if (!options.isIndependent(tree.run, tree.task, other.task)) continue;
      const overlap = await overlapOf(options.git, tree, other);
      if (overlap !== undefined) await options.onOverlap(overlap);
    }
  }

  return {
    async update(tree) {
      trees.set(keyOf(tree), tree);
      // One after the other: two tasks that end their turns together would both report the same meeting.
      const mine = looked.then(() => look(tree));
      looked = mine.catch(() => undefined);
      await mine;
    },
    remove(key) {
      trees.delete(keyOf(key));
    },
    all(run) {
      return [...trees.values()].filter((tree) => tree.run === run);
    },
  };
}

async function overlapOf(git: StoreGit, first: LiveTree, second: LiveTree): Promise<LiveOverlap | undefined> {
  const [early, late] = Number(first.task.slice(1)) < Number(second.task.slice(1)) ? [first, second] : [second, first];
  const [ours, theirs] = [await changedBlobs(git, early), await changedBlobs(git, late)];
  const overlaps = findOverlaps([liveChanges(early, ours, theirs), liveChanges(late, theirs, ours)]);
  if (overlaps.length === 0) return undefined;
  const base = await wrap(git, early.baseTree, []);
  const snapshots = [
    { task: early.task, role: early.role, commit: await wrap(git, early.tree, [base]) },
    { task: late.task, role: late.role, commit: await wrap(git, late.tree, [base]) },
  ];
  const textual = await findTextualConflicts(snapshots, (left, right) => git.merge(left, right));
  return {
    run: first.run,
    tasks: [early.task, late.task],
    roles: [early.role, late.role],
    paths: overlaps.map((overlap) => overlap.path).sort(),
    kind: textual.length > 0 ? 'textual' : 'overlap',
  };
}

type Blobs = ReadonlyMap<RepoPath, string>;

/** Both made the very same change: nothing to decide there. */
function liveChanges(live: LiveTree, own: Blobs, other: Blobs): Parameters<typeof findOverlaps>[0][number] {
  const differing = [...own].filter(([path, blob]) => other.get(path) !== blob);
  return { task: live.task, role: live.role, paths: new Map(differing.map(([path]) => [path, undefined])) };
}

async function changedBlobs(git: StoreGit, live: LiveTree): Promise<Blobs> {
  const changes = await git.diff(live.baseTree, live.tree);
  return new Map(changes.map((change) => [change.path, `${change.newMode} ${change.newBlob}`]));
}

/** merge-tree wants commits; these are never referenced and go with the next `gc`. */
async function wrap(git: StoreGit, tree: ObjectId, parents: readonly ObjectId[]): Promise<ObjectId> {
  return git.commit({
    tree,
    parents,
    message: 'live snapshot',
    author: { name: 'orchestrator', email: 'orchestrator@localhost' },
    atMs: 0,
  });
}

function keyOf(key: { run: RunId; task: TaskId }): string {
  return `${key.run}/${key.task}`;
}
