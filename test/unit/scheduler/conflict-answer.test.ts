import { expect, test } from 'vitest';
import type { Checkpoint } from '../../../src/domain/checkpoint.ts';
import type { AnswerContext } from '../../../src/scheduler/answer.ts';
import { conflictAnswer } from '../../../src/scheduler/answers-tasks.ts';
import { record, step, task } from './fixtures.ts';

/** T2 was told to move; its coder is in the given state. */
function context(state: 'paused' | 'queued'): AnswerContext {
  const rows = record(
    [task('T1'), task('T2', { state: 'paused' })],
    [step('T1', 'coder'), step('T2', 'coder', { state })],
  );
  const payload = { later: 'T2', others: ['T1'], conflicts: [], restartFrom: null };
  const checkpoint = { id: 'c-1', kind: 'conflict', task: 'T2', payload } as unknown as Checkpoint;
  const engine = { checkpoints: { list: () => [] }, clock: { now: () => 1 } } as unknown as AnswerContext['engine'];
  return { engine, record: rows, run: rows.run, checkpoint };
}

const stepsWritten = (writes: readonly { statement: string; params?: unknown }[]) =>
  writes.filter((write) => write.statement === 'step-upsert').map((write) => write.params);

// Queued is what recovery makes of a step that was still on its way to its end when the daemon died.
test.each(['paused', 'queued'] as const)(
  'a %s step of the task that moves is put aside, the other task is left alone',
  (state) => {
    const approved = conflictAnswer(context(state), { verdict: 'approve', by: 'me' });
    expect(stepsWritten(approved.writes)).toMatchObject([{ task: 'T2', role: 'coder', state: 'cancelled' }]);
    const rejected = conflictAnswer(context(state), { verdict: 'reject', reason: 'no', by: 'me' });
    expect(stepsWritten(rejected.writes)).toMatchObject([{ task: 'T2', role: 'coder', state: 'rejected' }]);
  },
);
