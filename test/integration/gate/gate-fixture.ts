import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { openCheckpoints } from '../../../src/checkpoints/open.ts';
import type { Checkpoint } from '../../../src/domain/checkpoint.ts';
import { type ObjectId, type RoleName, type TaskId, ZERO_OBJECT_ID } from '../../../src/domain/ids.ts';
import type { MergeCandidate, StepCommit } from '../../../src/gate/gate.ts';
import { openGate } from '../../../src/gate/open.ts';
import { compileDecider } from '../../../src/policy/decide.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { AT, type Content, type Fixture, makeRepository, RUN } from './repository.ts';

export const TARGET = `refs/heads/orchestrator/${RUN}`;
export const POLICY = 'policy-1';

const rules = (...globs: string[]) => globs.map((glob) => ({ glob, origin: 'test' }));
const boundary = (write: string[], deny: string[], ask: string[]) => ({
  write: rules(...write),
  deny: rules(...deny),
  ask: rules(...ask),
  createOnly: [],
  createOnlyElse: 'ask' as const,
  notDeny: [],
  notWrite: [],
});

/** coder writes lib and src, asks for Modules and Doc, is denied tests; test writes tests; nobody writes policies. */
const decider = compileDecider(
  {
    global: { never: rules('policies/**'), generated: { globs: rules('lib/made.py') } },
    roles: new Map([
      ['coder' as RoleName, boundary(['lib/**', 'src/**'], ['tests/**'], ['Modules/**', 'Doc/**'])],
      ['test' as RoleName, boundary(['tests/**'], ['lib/**'], [])],
    ]),
  },
  new Set(),
);

export async function makeGate(files: Readonly<Record<string, string>>) {
  const fixture = await makeRepository(files);
  const directory = join(fixture.root, '..');
  const store = await openSqliteStore({ path: join(directory, 'state.db'), nowMs: AT });
  onTestFinished(() => store.close());
  let count = 0;
  const random = (length: number) => {
    count += 1;
    return count.toString(36).padStart(length, '0').slice(-length);
  };
  const clock = { now: () => AT };
  const parts = { store, git: fixture.store, user: fixture.user, clock, random };
  const gate = openGate({ ...parts, deciderFor: () => decider });
  const checkpoints = openCheckpoints(parts);
  const base = await fixture.head();

  const stepBy = async (role: string, parent: ObjectId, contents: Readonly<Record<string, Content>>, task = 'T1') => {
    const commit = await fixture.step(parent, contents);
    return { task: task as TaskId, role: role as RoleName, commit, parent } satisfies StepCommit;
  };
  const candidate = (steps: readonly StepCommit[], changes: Partial<MergeCandidate> = {}): MergeCandidate => ({
    run: RUN,
    target: TARGET,
    targetCommit: ZERO_OBJECT_ID,
    baseCommit: base,
    result: steps.at(-1)?.commit ?? base,
    steps,
    grants: [],
    ...changes,
  });
  /** Opens the merge checkpoint for a candidate as the scheduler does. */
  const ask = async (merge: MergeCandidate): Promise<Checkpoint> => {
    const { checkpoint, writes } = checkpoints.prepare({
      kind: 'merge',
      run: merge.run,
      summary: 'merge',
      body: '',
      binding: {
        action: 'merge',
        content: await fixture.store.treeOf(merge.result),
        targetCommit: merge.targetCommit,
        policyDigest: POLICY,
        paths: [],
      },
      payload: {},
    });
    expect(await store.write(writes)).toMatchObject({ committed: true });
    return checkpoint;
  };
  const approve = async (merge: MergeCandidate): Promise<{ checkpoint: string; policyDigest: string }> => {
    const { id, binding } = await ask(merge);
    const outcome = await checkpoints.answer(id, { verdict: 'approve', by: 'someone' }, binding);
    expect(outcome.state).toBe('accepted');
    return { checkpoint: id, policyDigest: POLICY };
  };
  return { fixture, parts, store, gate, checkpoints, base, stepBy, candidate, ask, approve };
}

export async function refAt(fixture: Fixture, ref: string): Promise<ObjectId | undefined> {
  return fixture.user.resolve(ref);
}
