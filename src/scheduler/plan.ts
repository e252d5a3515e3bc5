import type { RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RunState, Step, Task } from '../domain/run.ts';
import { FINAL_STATES, PLAN_TASK } from '../domain/run.ts';
import { findStep, type RunRecord } from './records.ts';

/** What the dispatcher should do next. Doing nothing is also an answer: everything waits for agents or for a human. */
export type Action =
  | {
      readonly kind: 'start-step';
      readonly run: RunId;
      readonly task: TaskId;
      readonly role: RoleName;
      readonly attempt: number;
    }
  | {
      readonly kind: 'end-task';
      readonly run: RunId;
      readonly task: TaskId;
      readonly state: RunState;
      readonly reason: string | undefined;
    }
  | { readonly kind: 'prepare-merge'; readonly run: RunId }
  | { readonly kind: 'end-run'; readonly run: RunId; readonly state: RunState; readonly reason: string };

export interface Situation {
  readonly records: readonly RunRecord[];
  readonly freeSlots: number;
  /** Keys of work in progress (`stepKey`, `mergeKey`). */
  readonly busy: ReadonlySet<string>;
  /** Whether the expected globs of two tasks of a run meet. */
  readonly overlaps: (first: Task, second: Task) => boolean;
}

export function stepKey(step: { run: RunId; task: TaskId; role: RoleName; attempt: number }): string {
  return `step ${step.run}/${step.task}/${step.role}#${step.attempt}`;
}

export function mergeKey(run: RunId): string {
  return `merge ${run}`;
}

/** Pure: the same situation gives the same actions, in the order in which they should be started. */
export function nextActions(situation: Situation): readonly Action[] {
  const actions: Action[] = [];
  let slots = situation.freeSlots;
  const oldestFirst = [...situation.records].sort((a, b) => a.run.createdAt - b.run.createdAt);
  for (const record of oldestFirst) {
    for (const action of actionsOfRun(record, situation)) {
      if (action.kind === 'start-step') {
        if (slots === 0) continue;
        slots -= 1;
      }
      actions.push(action);
    }
  }
  return actions;
}

/** The tasks whose end a task waits for, because it starts from their result. */
export function predecessors(record: RunRecord, task: Task, overlaps: Situation['overlaps']): readonly Task[] {
  return record.tasks.filter(
    (other) =>
      other.id !== task.id &&
      (task.plan.dependsOn.includes(other.id) ||
        task.after.includes(other.id) ||
        (isEarlier(other, task) && !task.plan.dependsOn.includes(other.id) && overlaps(other, task))),
  );
}

export function hasEnded(task: Task): boolean {
  return task.state === 'ready' || FINAL_STATES.has(task.state);
}

function actionsOfRun(record: RunRecord, situation: Situation): readonly Action[] {
  const { run, tasks } = record;
  if (FINAL_STATES.has(run.state) || run.state === 'ready' || situation.busy.has(mergeKey(run.id))) return [];
  if (tasks.some((task) => task.id === PLAN_TASK && FINAL_STATES.has(task.state))) return [endingOf(record)];
  if (tasks.length > 0 && tasks.every(hasEnded)) return [endingOf(record)];
  const planning = tasks.find((task) => task.id === PLAN_TASK && task.state !== 'ready');
  return (planning ? [planning] : tasks).flatMap((task) => actionOfTask(record, task, situation) ?? []);
}

function actionOfTask(record: RunRecord, task: Task, situation: Situation): Action | undefined {
  if (hasEnded(task) || task.state === 'paused') return undefined;
  const run = record.run.id;
  const before = predecessors(record, task, situation.overlaps);
  const failed = before.find((other) => task.plan.dependsOn.includes(other.id) && FINAL_STATES.has(other.state));
  if (failed) {
    const reason = `it depends on ${failed.id}, which is ${failed.state}`;
    return { kind: 'end-task', run, task: task.id, state: 'failed', reason };
  }
  if (!before.every(hasEnded)) return undefined;
  const next = nextStep(record, task);
  if (next === 'waits') return undefined;
  if (next === 'all-done') return { kind: 'end-task', run, task: task.id, state: 'ready', reason: undefined };
  const step = { run, task: task.id, role: next, attempt: task.round };
  return situation.busy.has(stepKey(step)) ? undefined : { kind: 'start-step', ...step };
}

function nextStep(record: RunRecord, task: Task): RoleName | 'waits' | 'all-done' {
  for (const role of task.plan.steps) {
    const step: Step | undefined = findStep(record, { task: task.id, role, attempt: task.round });
    if (step === undefined || step.state === 'queued') return role;
    if (step.state !== 'done') return 'waits';
  }
  return 'all-done';
}

function endingOf(record: RunRecord): Action {
  const run = record.run.id;
  const own = record.tasks.filter((task) => task.id !== PLAN_TASK);
  const planner = record.tasks.find((task) => task.id === PLAN_TASK && task.state !== 'ready');
  if (planner === undefined && own.some((task) => task.state === 'ready')) return { kind: 'prepare-merge', run };
  const worst = WORST_FIRST.find((state) => own.some((task) => task.state === state)) ?? 'failed';
  const reasons = own.map((task) => `${task.id} is ${task.state}${task.reason ? ` (${task.reason})` : ''}`);
  if (planner !== undefined || own.length === 0) {
    return {
      kind: 'end-run',
      run,
      state: planner?.state ?? 'failed',
      reason: planner?.reason ?? 'the plan holds no task',
    };
  }
  return {
    kind: 'end-run',
    run,
    state: worst,
    reason: `no task came to an end that can be merged: ${reasons.join('; ')}`,
  };
}

const WORST_FIRST: readonly RunState[] = ['budget_exhausted', 'failed', 'rejected', 'cancelled'];

function isEarlier(first: Task, second: Task): boolean {
  return Number(first.id.slice(1)) < Number(second.id.slice(1));
}
