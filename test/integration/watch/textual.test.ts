import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ObjectId, TaskId } from '../../../src/domain/ids.ts';
import { findTextualConflicts } from '../../../src/watch/conflicts.ts';
import { makePool, OWNER, type ScratchPool } from '../workspace/scratch-pool.ts';

let made: ScratchPool;

beforeEach(async () => {
  made = await makePool({ 'lib/a.py': 'one\ntwo\nthree\n', 'lib/b.py': 'b\n' }, { slots: 3 });
});
afterEach(() => made.scratch.remove());

/** What a task's snapshot ref names after it wrote one file. */
async function snapshotOf(
  task: string,
  path: string,
  content: string,
): Promise<{ task: TaskId; role: string; commit: ObjectId }> {
  const owner = { ...OWNER, task: task as TaskId };
  const workspace = await made.acquire({ owner });
  writeFileSync(join(workspace.root, path), content);
  await workspace.snapshot();
  const refs = await made.store.refs(`refs/orchestrator/${owner.run}/${task}/coder/`);
  const commit = refs.get(`refs/orchestrator/${owner.run}/${task}/coder/1`);
  if (commit === undefined) throw new Error('the snapshot was not kept');
  return { task: owner.task, role: owner.role, commit };
}

it('finds the pair of snapshots that does not merge', async () => {
  const live = [
    await snapshotOf('T1', 'lib/a.py', 'ONE\ntwo\nthree\n'),
    await snapshotOf('T2', 'lib/a.py', 'uno\ntwo\nthree\n'),
    await snapshotOf('T3', 'lib/b.py', 'B\n'),
  ];
  expect(await findTextualConflicts(live, made.store.merge)).toEqual([
    { kind: 'textual', path: 'lib/a.py', tasks: ['T1', 'T2'], roles: ['coder', 'coder'] },
  ]);
});
