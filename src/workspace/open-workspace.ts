import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import { makeTreeEqual } from './prepare.ts';
import { restorePaths } from './restore.ts';
import { createSerial } from './serial.ts';
import { type PoolOptions, type PreparedSlot, type Slot, trackedIn } from './slot.ts';
import { openSnapshotRefs, takeSnapshot } from './snapshot.ts';
import { stagePatch, stagePath } from './staging.ts';
import type { Owner, Workspace } from './workspace.ts';

/** The workspace of a filled slot. Its operations run one after the other; after `release` they refuse. */
export function openWorkspace(
  options: PoolOptions,
  slot: Slot,
  use: {
    owner: Owner;
    start: { commit: ObjectId; tree: ObjectId };
    prepared: PreparedSlot;
    /** Told the tree that was seen last. */
    release: (tree: ObjectId) => void;
  },
): Workspace {
  const { store, clock } = options;
  const { owner } = use;
  const { root } = slot;
  const staging = options.stagingFor(owner.run);
  const refs = openSnapshotRefs({ store, owner, parent: use.start.commit, clock });
  const serial = createSerial();
  const { preparation } = use.prepared;
  let { context } = use.prepared;
  let seen = use.start.tree;
  let released = false;
  const whileHeld = <Result>(work: () => Promise<Result>): Promise<Result> =>
    serial(async () => {
      if (released)
        throw new OrchestratorError(
          'failed',
          `the workspace ${slot.name} of ${owner.task}/${owner.role} was given back`,
        );
      return work();
    });
  return {
    slot: slot.name,
    root,
    scratch: slot.scratch,
    snapshot: () =>
      whileHeld(async () => {
        const snapshot = await takeSnapshot(context);
        await refs.keep(snapshot.tree);
        seen = snapshot.tree;
        return snapshot;
      }),
    changes: (from, to) => store.diff(from, to),
    savePatch: async ({ from, to, paths, name }) => stagePatch(staging, name, await store.patch(from, to, paths)),
    restore: (tree, paths) =>
      whileHeld(async () => {
        await restorePaths(root, { store, tree, paths });
        seen = tree;
      }),
    resetTo: (tree) =>
      whileHeld(async () => {
        // What the step started with stays tracked: a file of it that is made again is never an ignored one.
        const target = await trackedIn(store, tree);
        await makeTreeEqual({ ...preparation, tree, tracked: target, seen });
        seen = tree;
        context = { ...context, tracked: new Map([...context.tracked, ...target]) };
      }),
    moveAside: (path, name) => whileHeld(() => stagePath({ root, path, directory: staging, name })),
    release: () =>
      serial(async () => {
        if (released) return;
        released = true;
        use.release(seen);
      }),
  };
}
