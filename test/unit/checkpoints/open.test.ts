import { expect, test } from 'vitest';
import type { NewCheckpoint } from '../../../src/checkpoints/checkpoints.ts';
import { openCheckpoints } from '../../../src/checkpoints/open.ts';
import type { Answer, Checkpoint, CheckpointKind } from '../../../src/domain/checkpoint.ts';
import type { CheckpointId, ObjectId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import { pathFromBytes } from '../../../src/domain/path.ts';
import { eventWrite, readEvents } from '../../../src/store/events.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { countingText, openTemporaryStore, START, tickingClock } from './temporary-store.ts';

const RUN = 'r-20261130-101500-k3f9' as RunId;
const TARGET = 'a'.repeat(40) as ObjectId;
const CURRENT = { content: 'b'.repeat(40), targetCommit: TARGET, policyDigest: 'p1' };
const YES: Answer = { verdict: 'approve', by: 'someone' };
const NO: Answer = { verdict: 'reject', reason: 'not this way', by: 'someone' };

function question(kind: CheckpointKind = 'merge', run: RunId = RUN): NewCheckpoint {
  return {
    kind,
    run,
    task: 'T1' as TaskId,
    role: 'coder' as RoleName,
    attempt: 2,
    summary: 'coder wants a file',
    body: 'why',
    diff: 'diff --git a/x b/x\n',
    binding: { action: kind, ...CURRENT, paths: [pathFromBytes(Buffer.from([0x61, 0xff]))] },
    payload: { tree: CURRENT.content },
  };
}

async function setUp() {
  const { store, path } = await openTemporaryStore();
  const checkpoints = openCheckpoints({ store, clock: tickingClock(), random: countingText() });
  const ask = async (request: NewCheckpoint = question()): Promise<Checkpoint> => {
    const { checkpoint, writes } = checkpoints.prepare(request);
    expect(await store.write(writes)).toMatchObject({ committed: true });
    return checkpoint;
  };
  const eventTypes = () => readEvents(store, 0, 1000).map((event) => event.type);
  return { store, path, checkpoints, ask, eventTypes };
}

test('a checkpoint reads back exactly as it was prepared, byte paths included, and survives a restart', async () => {
  const { path, checkpoints, ask } = await setUp();
  const asked = await ask();
  expect(checkpoints.get(asked.id)).toEqual(asked);
  const later = await openSqliteStore({ path, nowMs: START });
  const reopened = openCheckpoints({ store: later, clock: tickingClock(), random: countingText() });
  expect(reopened.get(asked.id)).toEqual(asked);
  expect(await reopened.answer(asked.id, YES, CURRENT)).toMatchObject({ state: 'accepted' });
  await later.close();
});

test('what the policy answers is approved as it is opened, and nobody can answer it again', async () => {
  const { store, checkpoints, eventTypes } = await setUp();
  const { checkpoint, writes } = checkpoints.prepare(question());
  await store.write([...writes, ...checkpoints.approvalWrites(checkpoint, 'policy')]);
  expect(checkpoints.list({ all: false })).toEqual([]);
  expect(checkpoints.get(checkpoint.id)).toMatchObject({
    state: 'approved',
    answer: { verdict: 'approve', by: 'policy' },
  });
  expect(eventTypes()).toEqual(['checkpoint-opened', 'checkpoint-approved']);
  expect(await checkpoints.answer(checkpoint.id, NO, CURRENT)).toMatchObject({ state: 'used' });
});

test('an answer is accepted once, with the caller’s own rows in the same transaction', async () => {
  const { store, checkpoints, ask, eventTypes } = await setUp();
  const asked = await ask();
  const extra = eventWrite({ at: 1, type: 'task-started', data: {} });
  const outcome = await checkpoints.answer(asked.id, YES, CURRENT, [extra]);
  expect(outcome).toMatchObject({ state: 'accepted', checkpoint: { state: 'approved', answer: YES } });
  expect(eventTypes()).toEqual(['checkpoint-opened', 'checkpoint-approved', 'task-started']);
  expect(await checkpoints.answer(asked.id, NO, CURRENT, [extra])).toMatchObject({
    state: 'used',
    checkpoint: { state: 'approved' },
  });
  expect(readEvents(store, 0, 1000)).toHaveLength(3);
});

test('twenty answers at once: exactly one counts, and its verdict is what stays', async () => {
  const { checkpoints, ask, eventTypes } = await setUp();
  const asked = await ask();
  const answers = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? YES : NO));
  const outcomes = await Promise.all(answers.map((answer) => checkpoints.answer(asked.id, answer, CURRENT)));
  const accepted = outcomes.filter((outcome) => outcome.state === 'accepted');
  expect(accepted).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome.state === 'used')).toHaveLength(19);
  expect(checkpoints.get(asked.id)?.state).toBe(accepted[0]?.checkpoint.state);
  expect(eventTypes().filter((type) => type !== 'checkpoint-opened')).toHaveLength(1);
});

test.each([
  ['content', { content: 'c'.repeat(40) }, 'the content changed'],
  ['target', { targetCommit: 'd'.repeat(40) }, 'the target moved'],
  ['policy', { policyDigest: 'p2' }, 'the policy changed'],
])('a changed %s voids the checkpoint instead, for either verdict', async (_name, change, words) => {
  for (const answer of [YES, NO]) {
    const { checkpoints, ask, eventTypes } = await setUp();
    const asked = await ask();
    const outcome = await checkpoints.answer(asked.id, answer, { ...CURRENT, ...change });
    expect(outcome).toMatchObject({ state: 'void', checkpoint: { state: 'void' } });
    expect(outcome.state === 'void' && outcome.changed.join()).toContain(words);
    expect(await checkpoints.answer(asked.id, answer, CURRENT)).toMatchObject({ state: 'used' });
    expect(eventTypes()).toEqual(['checkpoint-opened', 'checkpoint-voided']);
  }
});

test('an answer whose caller lost its own guard leaves the checkpoint waiting', async () => {
  const { checkpoints, ask, eventTypes } = await setUp();
  const asked = await ask();
  const lost = { statement: 'intent-close', params: { id: 'i-none', state: 'done' }, expectChanges: 1 };
  await expect(checkpoints.answer(asked.id, YES, CURRENT, [lost])).rejects.toThrow(/intent-close.*still waits/);
  expect(checkpoints.get(asked.id)?.state).toBe('pending');
  expect(eventTypes()).toEqual(['checkpoint-opened']);
  expect(await checkpoints.answer(asked.id, YES, CURRENT)).toMatchObject({ state: 'accepted' });
});

test('an unknown id is an error of use', async () => {
  const { checkpoints } = await setUp();
  await expect(checkpoints.answer('c-none' as CheckpointId, YES, CURRENT)).rejects.toMatchObject({ code: 'usage' });
  expect(checkpoints.get('c-none')).toBeUndefined();
});

test('voiding a pending checkpoint writes row and event, voiding an answered one writes neither', async () => {
  const { store, checkpoints, ask, eventTypes } = await setUp();
  const pending = await ask();
  const answered = await ask();
  await checkpoints.answer(answered.id, YES, CURRENT);
  for (const { id } of [pending, answered]) {
    expect(await store.write(checkpoints.voidWrites(id, 'the run was cancelled'))).toMatchObject({ committed: true });
  }
  expect(checkpoints.get(pending.id)?.state).toBe('void');
  expect(checkpoints.get(answered.id)?.state).toBe('approved');
  expect(eventTypes().filter((type) => type === 'checkpoint-voided')).toHaveLength(1);
});

test('lists by family, oldest first within one; pending only unless all are asked for; by run', async () => {
  const { checkpoints, ask } = await setUp();
  const kinds: CheckpointKind[] = ['merge', 'budget', 'boundary', 'stalled', 'plan'];
  const asked: Checkpoint[] = [];
  for (const kind of kinds) asked.push(await ask(question(kind)));
  const other = await ask(question('plan', 'r-other' as RunId));
  const kindsOf = (list: readonly Checkpoint[]) => list.map((checkpoint) => checkpoint.kind);
  expect(kindsOf(checkpoints.list({ all: false, run: RUN }))).toEqual([
    'boundary',
    'plan',
    'budget',
    'stalled',
    'merge',
  ]);
  expect(checkpoints.list({ all: false }).map((checkpoint) => checkpoint.id)).toContain(other.id);
  const merge = asked[0];
  await checkpoints.answer(merge?.id as CheckpointId, NO, CURRENT);
  expect(kindsOf(checkpoints.list({ all: false, run: RUN }))).toEqual(['boundary', 'plan', 'budget', 'stalled']);
  expect(kindsOf(checkpoints.list({ all: true, run: RUN }))).toHaveLength(5);
});
