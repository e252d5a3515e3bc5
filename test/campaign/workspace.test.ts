import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ObjectId, RoleName, RunId, TaskId } from '../../src/domain/ids.ts';
import type { StoreGit } from '../../src/git/git.ts';
import { openWorkspacePool } from '../../src/workspace/pool.ts';
import type { Workspace, WorkspacePool } from '../../src/workspace/workspace.ts';
import { makeTree } from '../bench/tree.ts';
import { makeRepository, openDoors, type ScratchRepository } from '../integration/git/scratch-repository.ts';
import { median, printFigures, quantile, timed } from './figures.ts';

const SLOTS = 4;
const ROUNDS = 15;
const EDITED = ['Lib/keyword.py', 'README.rst', 'configure.ac'];

let scratch: ScratchRepository;
let store: StoreGit;
let pool: WorkspacePool;
let start: { commit: ObjectId; tree: ObjectId };

beforeAll(async () => {
  scratch = makeRepository({ '.gitignore': '*.o\n' });
  await makeTree(scratch.root);
  scratch.git('-c', 'core.compression=1', 'add', '-A');
  scratch.git('commit', '-qm', 'the shape of CPython 3.11');
  scratch.git('gc', '-q');
  const doors = await openDoors(scratch);
  store = doors.store;
  const { commit } = await doors.user.head();
  start = { commit, tree: await store.treeOf(commit) };
  pool = await openWorkspacePool({
    directory: path.join(scratch.base, 'state/workspaces'),
    slots: SLOTS,
    store,
    stagingFor: (run) => path.join(scratch.base, 'state/runs', run, 'staging'),
    clock: { now: Date.now },
    isNever: () => false,
    ignoreBaseTree: async () => start.tree,
    searchPath: scratch.environment['PATH'] ?? '',
  });
});
afterAll(() => scratch.remove());

async function acquire(task: number): Promise<Workspace> {
  const owner = { run: 'r-1' as RunId, task: `T${task}` as TaskId, role: 'coder' as RoleName, attempt: 1 };
  const workspace = await pool.acquire(owner, start);
  if (workspace === undefined) throw new Error('no slot is free');
  return workspace;
}

it('slots and snapshots on a tree of 4,450 files', async () => {
  const held: { ms: number; value: Workspace }[] = [];
  for (let n = 1; n <= SLOTS; n += 1) held.push(await timed(() => acquire(n)));
  const fresh = held.map(({ ms }) => ms);
  for (const { value } of held) await value.release();
  const reused: number[] = [];
  const warm: number[] = [];
  const edited: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const { ms, value: workspace } = await timed(() => acquire(round));
    reused.push(ms);
    expect((await workspace.snapshot()).tree).toBe(start.tree);
    warm.push((await timed(workspace.snapshot)).ms);
    for (const file of EDITED) await appendFile(path.join(workspace.root, file), 'edited\n');
    const after = await timed(workspace.snapshot);
    edited.push(after.ms);
    const changed = await workspace.changes(start.tree, after.value.tree);
    expect(changed.map((change) => change.path).sort()).toEqual(EDITED);
    await workspace.release();
  }
  const together = await timed(() => Promise.all([1, 2, 3, 4].map(acquire)));
  for (const workspace of together.value) await workspace.release();
  printFigures('workspaces on a tree of the shape of CPython 3.11', [
    { name: 'new slot, median', value: median(fresh), unit: 'ms' },
    { name: 'reused slot after three edits, median', value: median(reused), unit: 'ms' },
    { name: 'reused slot, worst', value: quantile(reused, 1), unit: 'ms' },
    { name: 'four slots at once', value: together.ms, unit: 'ms' },
    { name: 'snapshot, nothing changed, median', value: median(warm), unit: 'ms' },
    { name: 'snapshot after three edits, median', value: median(edited), unit: 'ms' },
  ]);
  // Reuse is what slots are for: by far cheaper than a new tree.
  expect(median(reused)).toBeLessThan(median(fresh));
});
