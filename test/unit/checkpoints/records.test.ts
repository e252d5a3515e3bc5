import { expect, test } from 'vitest';
import {
  conflictStateWrites,
  conflictWrites,
  readConflicts,
  readViolations,
  violationResolutionWrites,
  violationWrites,
} from '../../../src/checkpoints/records.ts';
import type { RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import { pathFromBytes, type RepoPath } from '../../../src/domain/path.ts';
import type { Conflict, Violation } from '../../../src/domain/violation.ts';
import { readEvents } from '../../../src/store/events.ts';
import { openTemporaryStore } from './temporary-store.ts';

const RUN = 'r-1' as RunId;
const inWorkspace: Violation = {
  id: 'v-1',
  run: RUN,
  task: 'T1' as TaskId,
  role: 'coder' as RoleName,
  path: pathFromBytes(Buffer.from([0x74, 0xff])),
  operation: 'modify',
  decision: 'deny',
  rule: 'tests/**',
  attribution: 'role',
  tree: 'workspace',
  detectedBy: 'snapshot',
  detectedAt: 10,
  resolution: 'quarantined',
  patch: 'staging/v-1.patch',
};
const inCheckout: Violation = {
  id: 'v-2',
  path: 'src/a.py' as RepoPath,
  operation: 'create',
  decision: 'out',
  attribution: 'unknown',
  tree: 'checkout',
  detectedBy: 'watch',
  detectedAt: 20,
  resolution: 'prevented',
};

test('violations read back whole, oldest first, of one run or of all, with an event each', async () => {
  const { store } = await openTemporaryStore();
  await store.write([...violationWrites(inCheckout), ...violationWrites(inWorkspace)]);
  expect(readViolations(store)).toEqual([inWorkspace, inCheckout]);
  expect(readViolations(store, { run: RUN })).toEqual([inWorkspace]);
  const events = readEvents(store, 0, 10);
  expect(events.map((event) => event.type)).toEqual(['violation-recorded', 'violation-recorded']);
  expect(events[1]).toMatchObject({ run: RUN, task: 'T1', role: 'coder', data: { violation: 'v-1' } });
});

test('a resolution replaces the first one; one for an unknown violation is rolled back', async () => {
  const { store } = await openTemporaryStore();
  await store.write(violationWrites(inWorkspace));
  const approve = (id: string) => violationResolutionWrites({ id, resolution: 'approved', at: 30 });
  expect(await store.write(approve('v-1'))).toMatchObject({ committed: true });
  expect(readViolations(store)).toEqual([{ ...inWorkspace, resolution: 'approved' }]);
  expect(await store.write(approve('v-9'))).toMatchObject({ committed: false });
  expect(readEvents(store, 0, 10)).toHaveLength(2);
});

test('conflicts read back whole and move on until they are resolved', async () => {
  const { store } = await openTemporaryStore();
  const conflict: Conflict = {
    id: 'x-1',
    run: RUN,
    path: 'src/a.py' as RepoPath,
    kind: 'overlap',
    roles: ['coder', 'human'],
    tasks: ['T1', 'T2'] as TaskId[],
    state: 'open',
  };
  await store.write(conflictWrites(conflict, 5));
  expect(readConflicts(store)).toEqual([conflict]);
  expect(readConflicts(store, { run: 'r-2' as RunId })).toEqual([]);
  const moveTo = (state: 'waiting' | 'resolved') =>
    store.write(conflictStateWrites({ id: 'x-1', run: RUN, state, at: 6 }));
  expect(await moveTo('waiting')).toMatchObject({ committed: true });
  expect(await moveTo('resolved')).toMatchObject({ committed: true });
  expect(await moveTo('waiting')).toMatchObject({ committed: false });
  expect(readConflicts(store, { run: RUN })).toEqual([{ ...conflict, state: 'resolved' }]);
});
