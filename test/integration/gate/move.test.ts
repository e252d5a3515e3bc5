import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ZERO_OBJECT_ID } from '../../../src/domain/ids.ts';
import type { MergeCandidate } from '../../../src/gate/gate.ts';
import { announceWrites, doneWrites, type MergeIntent } from '../../../src/gate/intents.ts';
import { readEvents } from '../../../src/store/events.ts';
import { makeGate, POLICY, refAt, TARGET } from './gate-fixture.ts';
import { AT, type Fixture, RUN } from './repository.ts';

const FILES = { 'lib/a.py': 'a\n' };
type Made = Awaited<ReturnType<typeof makeGate>>;

async function setUp() {
  const made = await makeGate(FILES);
  const step = await made.stepBy('coder', made.base, { 'lib/a.py': 'changed\n' });
  return { ...made, step, merge: made.candidate([step]) };
}

const mergeEvents = ({ store }: Made) =>
  readEvents(store, 0, 1000)
    .map((event) => event.type)
    .filter((type) => type.startsWith('merge-'));

async function userState(fixture: Fixture) {
  const file = async (name: string) => (await readFile(join(fixture.root, '.git', name))).toString('hex');
  return [await file('index'), await file('config'), await file('HEAD'), await fixture.git('status', '--porcelain')];
}

describe('an approved merge', () => {
  test('creates the branch with the approved tree and touches nothing else of the user', async () => {
    const made = await setUp();
    const before = await userState(made.fixture);
    const approval = await made.approve(made.merge);
    expect(await made.gate.move(made.merge, approval)).toEqual({ state: 'moved', commit: made.step.commit });
    expect(await refAt(made.fixture, TARGET)).toBe(made.step.commit);
    expect(await made.fixture.git('rev-parse', `${TARGET}^{tree}`)).toBe(
      made.checkpoints.get(approval.checkpoint)?.binding.content,
    );
    expect(await userState(made.fixture)).toEqual(before);
    expect(mergeEvents(made)).toEqual(['merge-announced', 'merge-finished']);
  });

  test('moves a branch that exists forward', async () => {
    const made = await setUp();
    await made.fixture.git('update-ref', TARGET, made.base);
    const merge = { ...made.merge, targetCommit: made.base };
    expect(await made.gate.move(merge, await made.approve(merge))).toMatchObject({ state: 'moved' });
    expect(await refAt(made.fixture, TARGET)).toBe(made.step.commit);
  });

  test('a target that is checked out anywhere is not moved and the approval is not spent', async () => {
    const made = await setUp();
    const merge = { ...made.merge, target: 'refs/heads/main', targetCommit: made.base };
    const approval = await made.approve(merge);
    expect(await made.gate.move(merge, approval)).toEqual({ state: 'checked-out' });
    expect(await made.fixture.head()).toBe(made.base);
    expect(mergeEvents(made)).toEqual([]);
    await made.fixture.git('checkout', '--quiet', '--detach');
    expect(await made.gate.move(merge, approval)).toMatchObject({ state: 'moved' });
  });

  test('a target that somebody moved is left where it is, and that approval is spent', async () => {
    const made = await setUp();
    const approval = await made.approve(made.merge);
    await made.fixture.git('update-ref', TARGET, made.base);
    expect(await made.gate.move(made.merge, approval)).toEqual({ state: 'target-moved', found: made.base });
    expect(await refAt(made.fixture, TARGET)).toBe(made.base);
    expect(mergeEvents(made)).toEqual(['merge-announced', 'merge-voided']);
    await made.fixture.git('update-ref', '-d', TARGET);
    await expect(made.gate.move(made.merge, approval)).rejects.toMatchObject({ code: 'refused' });
    expect(await made.gate.move(made.merge, await made.approve(made.merge))).toMatchObject({ state: 'moved' });
  });

  test('a race: of eight moves with an approval each, one wins and the ref never leaves it', async () => {
    const made = await setUp();
    const merges: MergeCandidate[] = [];
    for (let index = 0; index < 8; index += 1) {
      const step = await made.stepBy('coder', made.base, { 'lib/a.py': `${index}\n` });
      merges.push(made.candidate([step]));
    }
    const approvals = await Promise.all(merges.map((merge) => made.approve(merge)));
    const outcomes = await Promise.all(
      merges.map((merge, index) =>
        made.gate.move(merge, approvals[index] ?? { checkpoint: '' }).catch(() => undefined),
      ),
    );
    const moved = merges.filter((_, index) => outcomes[index]?.state === 'moved');
    expect(moved).toHaveLength(1);
    expect(await refAt(made.fixture, TARGET)).toBe(moved[0]?.result);
    expect(await made.gate.recover()).toEqual([]);
  });

  test('what the judge refuses is not moved even when it was approved', async () => {
    const made = await setUp();
    const step = await made.stepBy('coder', made.base, { 'tests/x.py': 'x\n' });
    const merge = made.candidate([step]);
    const moving = made.gate.move(merge, await made.approve(merge));
    await expect(moving).rejects.toMatchObject({
      code: 'refused',
      details: [expect.stringMatching(/^tests\/x\.py: /)],
    });
    expect(await refAt(made.fixture, TARGET)).toBeUndefined();
  });

  test('a branch name in the way is an error that names it, and leaves the approval for a second try', async () => {
    const made = await setUp();
    const approval = await made.approve(made.merge);
    await made.fixture.git('branch', 'orchestrator');
    await expect(made.gate.move(made.merge, approval)).rejects.toThrow(/orchestrator/);
    expect(await made.gate.recover()).toEqual([]);
    await made.fixture.git('branch', '-D', 'orchestrator');
    expect(await made.gate.move(made.merge, approval)).toMatchObject({ state: 'moved' });
  });
});

describe('an approval', () => {
  test('counts once: not for a second move, nor for two at the same time', async () => {
    const made = await setUp();
    const approval = await made.approve(made.merge);
    const both = await Promise.allSettled([made.gate.move(made.merge, approval), made.gate.move(made.merge, approval)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await made.fixture.git('update-ref', '-d', TARGET);
    await expect(made.gate.move(made.merge, approval)).rejects.toThrow(/was used before/);
    expect(await refAt(made.fixture, TARGET)).toBeUndefined();
  });

  test('that was never given, was refused, or is unknown moves nothing', async () => {
    const made = await setUp();
    const pending = await made.ask(made.merge);
    const rejected = await made.ask(made.merge);
    await made.checkpoints.answer(rejected.id, { verdict: 'reject', reason: 'no', by: 'someone' }, rejected.binding);
    for (const checkpoint of [pending.id, rejected.id, 'c-none']) {
      await expect(made.gate.move(made.merge, { checkpoint })).rejects.toMatchObject({ code: 'refused' });
    }
    expect(await refAt(made.fixture, TARGET)).toBeUndefined();
    expect(mergeEvents(made)).toEqual([]);
  });

  test('for another result, target commit, run or policy moves nothing', async () => {
    const made = await setUp();
    const other = await made.stepBy('coder', made.base, { 'lib/a.py': 'other\n' });
    const approval = await made.approve(made.merge);
    await made.fixture.git('update-ref', TARGET, made.base);
    const attempts: [MergeCandidate, { checkpoint: string; policyDigest?: string }][] = [
      [made.candidate([other]), approval],
      [{ ...made.merge, targetCommit: made.base }, approval],
      [{ ...made.merge, run: 'r-other' as typeof RUN }, approval],
      [made.merge, { ...approval, policyDigest: 'policy-2' }],
    ];
    for (const [merge, given] of attempts) {
      await expect(made.gate.move(merge, given)).rejects.toMatchObject({ code: 'refused' });
    }
    expect(await refAt(made.fixture, TARGET)).toBe(made.base);
    await made.fixture.git('update-ref', '-d', TARGET);
    expect(await made.gate.move(made.merge, approval)).toMatchObject({ state: 'moved' });
  });

  test('of another kind of checkpoint moves nothing', async () => {
    const made = await setUp();
    const { checkpoint, writes } = made.checkpoints.prepare({
      kind: 'boundary',
      run: RUN,
      summary: '',
      body: '',
      binding: {
        action: 'merge',
        content: await made.fixture.store.treeOf(made.merge.result),
        targetCommit: ZERO_OBJECT_ID,
        policyDigest: POLICY,
        paths: [],
      },
      payload: {},
    });
    await made.store.write(writes);
    await made.checkpoints.answer(checkpoint.id, { verdict: 'approve', by: 'someone' }, checkpoint.binding);
    await expect(made.gate.move(made.merge, { checkpoint: checkpoint.id })).rejects.toMatchObject({ code: 'refused' });
  });
});

describe('recovery after a crash between the announcement and the done row', () => {
  async function crashed() {
    const made = await setUp();
    const approval = await made.approve(made.merge);
    await made.fixture.user.importCommit(made.fixture.store, made.merge.result);
    const intent: MergeIntent = {
      id: 'i-crashed',
      run: RUN,
      target: TARGET,
      old: ZERO_OBJECT_ID,
      next: made.merge.result,
      tree: await made.fixture.store.treeOf(made.merge.result),
      checkpoint: approval.checkpoint,
    };
    expect(await made.store.write(announceWrites(intent, AT, POLICY))).toMatchObject({ committed: true });
    return { ...made, approval, intent };
  }

  test('the ref had not moved: void, and the same approval may be used again', async () => {
    const made = await crashed();
    await expect(made.gate.move(made.merge, made.approval)).rejects.toMatchObject({ code: 'refused' });
    expect(await made.gate.recover()).toEqual([{ run: RUN, outcome: 'void', commit: ZERO_OBJECT_ID }]);
    expect(await made.gate.recover()).toEqual([]);
    expect(await made.gate.move(made.merge, made.approval)).toMatchObject({ state: 'moved' });
    await expect(made.gate.move(made.merge, made.approval)).rejects.toMatchObject({ code: 'refused' });
  });

  test('the ref had moved: finished, once', async () => {
    const made = await crashed();
    await made.fixture.git('update-ref', TARGET, made.merge.result);
    expect(await made.gate.recover()).toEqual([{ run: RUN, outcome: 'finished', commit: made.merge.result }]);
    expect(mergeEvents(made)).toEqual(['merge-announced', 'merge-finished']);
    expect(await made.gate.recover()).toEqual([]);
    await expect(made.gate.move(made.merge, made.approval)).rejects.toMatchObject({ code: 'refused' });
  });

  test('the ref had moved and the user went on from there: finished', async () => {
    const made = await crashed();
    await made.fixture.git('checkout', '--quiet', '-b', 'mine', made.merge.result);
    const later = await made.fixture.save('later');
    await made.fixture.git('update-ref', TARGET, later);
    expect(await made.gate.recover()).toEqual([{ run: RUN, outcome: 'finished', commit: made.merge.result }]);
    expect(await refAt(made.fixture, TARGET)).toBe(later);
  });

  test('the ref is anywhere else: frozen, nothing is moved, the approval stays spent', async () => {
    const made = await crashed();
    await made.fixture.git('update-ref', TARGET, made.base);
    expect(await made.gate.recover()).toEqual([{ run: RUN, outcome: 'frozen', commit: made.base }]);
    expect(mergeEvents(made)).toEqual(['merge-announced', 'merge-frozen']);
    expect(await refAt(made.fixture, TARGET)).toBe(made.base);
    await made.fixture.git('update-ref', '-d', TARGET);
    await expect(made.gate.move(made.merge, made.approval)).rejects.toMatchObject({ code: 'refused' });
  });

  test('done, but its run has not heard of it: reported until the run has ended', async () => {
    const made = await crashed();
    await made.fixture.git('update-ref', TARGET, made.merge.result);
    await made.store.write(doneWrites(made.intent, AT));
    expect(await made.gate.recover()).toEqual([]);
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(made.fixture.root, '../state.db'));
    const insert = database.prepare(`INSERT INTO runs (id, state, created_at, data) VALUES (?, ?, 1, '{}')`);
    insert.run(RUN, 'ready');
    expect(await made.gate.recover()).toEqual([{ run: RUN, outcome: 'finished', commit: made.merge.result }]);
    database.prepare('UPDATE runs SET state = ? WHERE id = ?').run('merged', RUN);
    database.close();
    expect(await made.gate.recover()).toEqual([]);
  });
});
