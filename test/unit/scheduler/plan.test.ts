import { describe, expect, it } from 'vitest';
import type { Task } from '../../../src/domain/run.ts';
import { type Action, nextActions, type Situation, stepKey } from '../../../src/scheduler/plan.ts';
import { RUN, record, role, step, task } from './fixtures.ts';

function actions(given: Partial<Situation> & Pick<Situation, 'records'>): readonly string[] {
  const found = nextActions({ freeSlots: 4, busy: new Set(), overlaps: () => false, ...given });
  return found.map(show);
}

function show(action: Action): string {
  switch (action.kind) {
    case 'start-step':
      return `start ${action.task}/${action.role}#${action.attempt}`;
    case 'end-task':
      return `end ${action.task} ${action.state}`;
    case 'prepare-merge':
      return 'merge';
    case 'end-run':
      return `end-run ${action.state}`;
  }
}

const planned = task('T0', { state: 'ready', plan: { steps: [role('planner')] } });

describe('nextActions', () => {
  it('lets the planner work alone, also when its tasks are recorded already', () => {
    const planning = task('T0', { plan: { steps: [role('planner')] } });
    expect(actions({ records: [record([planning, task('T1')])] })).toEqual(['start T0/planner#1']);
    expect(actions({ records: [record([{ ...planning, state: 'paused' }, task('T1')])] })).toEqual([]);
  });

  it('starts independent tasks side by side, as far as slots go', () => {
    const records = [record([planned, task('T1'), task('T2'), task('T3')])];
    expect(actions({ records })).toEqual(['start T1/coder#1', 'start T2/coder#1', 'start T3/coder#1']);
    expect(actions({ records, freeSlots: 2 })).toEqual(['start T1/coder#1', 'start T2/coder#1']);
    expect(actions({ records, freeSlots: 0 })).toEqual([]);
  });

  it('never starts what is being worked on', () => {
    const busy = new Set([stepKey({ run: RUN, task: task('T1').id, role: role('coder'), attempt: 1 })]);
    expect(actions({ records: [record([planned, task('T1')])], busy })).toEqual([]);
    expect(actions({ records: [record([planned, task('T1')])] })).toEqual(['start T1/coder#1']);
  });

  it('goes through the roles in order and ends the task after the last', () => {
    const one = task('T1', { state: 'running' });
    const done = (...roles: string[]) => [
      record(
        [planned, one],
        roles.map((name) => step('T1', name)),
      ),
    ];
    expect(actions({ records: done('coder') })).toEqual(['start T1/test#1']);
    expect(actions({ records: done('coder', 'test') })).toEqual(['start T1/reviewer#1']);
    expect(actions({ records: done('coder', 'test', 'reviewer') })).toEqual(['end T1 ready']);
  });

  it('begins the next round with the first role and its next attempt', () => {
    const reworked = task('T1', { state: 'running', round: 2, reviewRounds: 1 });
    const steps = ['coder', 'test', 'reviewer'].map((name) => step('T1', name));
    expect(actions({ records: [record([planned, reworked], steps)] })).toEqual(['start T1/coder#2']);
  });

  it('resumes a step that was queued again and leaves a paused one alone', () => {
    const one = task('T1', { state: 'running' });
    expect(actions({ records: [record([planned, one], [step('T1', 'coder', { state: 'queued' })])] })).toEqual([
      'start T1/coder#1',
    ]);
    expect(actions({ records: [record([planned, one], [step('T1', 'coder', { state: 'paused' })])] })).toEqual([]);
    expect(
      actions({
        records: [record([planned, { ...one, state: 'paused' }], [step('T1', 'coder', { state: 'queued' })])],
      }),
    ).toEqual([]);
  });

  it('runs tasks whose expected paths meet one after the other', () => {
    const overlaps = (first: Task, second: Task) => [first.id, second.id].sort().join() === 'T1,T2';
    const tasks = [planned, task('T1'), task('T2'), task('T3')];
    expect(actions({ records: [record(tasks)], overlaps })).toEqual(['start T1/coder#1', 'start T3/coder#1']);
    const ended = [planned, task('T1', { state: 'ready' }), task('T2'), task('T3', { state: 'ready' })];
    expect(actions({ records: [record(ended)], overlaps })).toEqual(['start T2/coder#1']);
  });

  it('waits for dependencies, and fails what depends on a failed task', () => {
    const second = task('T2', { plan: { dependsOn: [task('T1').id] } });
    expect(
      actions({
        records: [
          record([planned, task('T1', { state: 'running' }), second], [step('T1', 'coder', { state: 'running' })]),
        ],
      }),
    ).toEqual([]);
    expect(actions({ records: [record([planned, task('T1', { state: 'ready' }), second])] })).toEqual([
      'start T2/coder#1',
    ]);
    expect(actions({ records: [record([planned, task('T1', { state: 'failed' }), second])] })).toEqual([
      'end T2 failed',
    ]);
  });

  it('merges once every task has ended and one can be merged', () => {
    const tasks = [planned, task('T1', { state: 'ready' }), task('T2', { state: 'failed' })];
    expect(actions({ records: [record(tasks)] })).toEqual(['merge']);
    expect(actions({ records: [record(tasks)], busy: new Set([`merge ${RUN}`]) })).toEqual([]);
    expect(actions({ records: [record(tasks, [], { state: 'ready' })] })).toEqual([]);
    expect(actions({ records: [record([...tasks, task('T3', { state: 'paused' })])] })).toEqual([]);
  });

  it('ends a run without a result in the state that says most', () => {
    const ended = (...states: Task['state'][]) => [
      record([planned, ...states.map((state, index) => task(`T${index + 1}`, { state }))]),
    ];
    expect(actions({ records: ended('failed', 'budget_exhausted') })).toEqual(['end-run budget_exhausted']);
    expect(actions({ records: ended('rejected') })).toEqual(['end-run rejected']);
    expect(actions({ records: [record([{ ...planned, state: 'failed', reason: 'no plan' }])] })).toEqual([
      'end-run failed',
    ]);
  });

  it('leaves ended runs alone', () => {
    for (const state of ['merged', 'rejected', 'failed', 'cancelled', 'budget_exhausted'] as const) {
      expect(actions({ records: [record([planned, task('T1')], [], { state })] })).toEqual([]);
    }
  });
});
