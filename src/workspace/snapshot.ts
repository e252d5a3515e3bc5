import type { Clock, ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import type { TreeDoor } from '../git/tree-door.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { inspectTree, type Tracked } from './inspect.ts';
import { changedNeverPaths, type NeverState, readNeverState } from './never-state.ts';
import { recordTree } from './record.ts';
import type { Owner, Snapshot } from './workspace.ts';

export interface SnapshotContext {
  readonly store: StoreGit;
  readonly root: string;
  readonly door: TreeDoor;
  readonly tracked: Tracked;
  readonly rules: IgnoreRules;
  readonly neverAtStart: NeverState;
  isNever(path: RepoPath): boolean;
}

/** Hashes the tree as it is; reads only. */
export async function takeSnapshot(context: SnapshotContext): Promise<Snapshot> {
  const { root, tracked, rules } = context;
  const inspection = await inspectTree(root, { tracked, rules, repair: false });
  const tree = await recordTree(context, inspection);
  const never = await readNeverState(root, inspection.untracked.filter(context.isNever));
  return {
    tree,
    neverPaths: changedNeverPaths(context.neverAtStart, never),
    nestedRepositories: inspection.nestedRepositories,
  };
}

/** Keeps snapshots from being pruned: `refs/orchestrator/<run>/<task>/<role>/<n>` names a commit on top of the start. */
interface SnapshotRefs {
  /** Does nothing when the tree is the one that was kept last. */
  keep(tree: ObjectId): Promise<void>;
}

export function openSnapshotRefs(options: {
  readonly store: StoreGit;
  readonly owner: Owner;
  readonly parent: ObjectId;
  readonly clock: Clock;
}): SnapshotRefs {
  const { store, owner, parent, clock } = options;
  const prefix = `refs/orchestrator/${owner.run}/${owner.task}/${owner.role}/`;
  let kept: ObjectId | undefined;
  let ordinal: number | undefined;
  return {
    keep: async (tree) => {
      if (tree === kept) return;
      const commit = await store.commit({
        tree,
        parents: [parent],
        message: `Snapshot of ${owner.task}/${owner.role}#${owner.attempt}\n`,
        author: SNAPSHOT_AUTHOR,
        atMs: clock.now(),
      });
      ordinal = (ordinal ?? highestOrdinal(prefix, (await store.refs(prefix)).keys())) + 1;
      await store.updateRef(`${prefix}${ordinal}`, commit);
      kept = tree;
    },
  };
}

/** Snapshots never leave the store, so they carry nobody's identity. */
const SNAPSHOT_AUTHOR = { name: 'orchestrator', email: 'orchestrator@localhost' };

function highestOrdinal(prefix: string, refs: Iterable<string>): number {
  return Math.max(0, ...Array.from(refs, (ref) => Number(ref.slice(prefix.length)) || 0));
}
