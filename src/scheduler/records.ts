import type { RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { Run, Step, Task } from '../domain/run.ts';
import { FINAL_STATES, PLAN_TASK } from '../domain/run.ts';
import type { Row, Store, Write } from '../store/store.ts';

/** A run with its tasks and steps, as the rows say it. */
export interface RunRecord {
  readonly run: Run;
  readonly tasks: readonly Task[];
  readonly steps: readonly Step[];
}

export function runWrite(run: Run): Write {
  return {
    statement: 'run-upsert',
    params: { id: run.id, state: run.state, created_at: run.createdAt, data: JSON.stringify(run) },
  };
}

export function taskWrite(task: Task): Write {
  return {
    statement: 'task-upsert',
    params: {
      run: task.run,
      id: task.id,
      ordinal: Number(task.id.slice(1)),
      state: task.state,
      data: JSON.stringify(task),
    },
  };
}

/** Tasks that have not come to an end. An accepted plan is none: `retry` and `resume` go on from it. */
export function openTasks({ tasks }: RunRecord): readonly Task[] {
  return tasks.filter((task) => !FINAL_STATES.has(task.state) && !(task.id === PLAN_TASK && task.state === 'ready'));
}

/** A run that has ended leaves no task open. */
export function endingWrites(record: RunRecord, ending: { state: Run['state']; reason: string }): readonly Write[] {
  return [
    runWrite({ ...record.run, ...ending }),
    ...openTasks(record).map((task) => taskWrite({ ...task, ...ending })),
  ];
}

export function stepWrite(step: Step): Write {
  return {
    statement: 'step-upsert',
    params: {
      run: step.run,
      task: step.task,
      role: step.role,
      attempt: step.attempt,
      state: step.state,
      data: JSON.stringify(step),
    },
  };
}

export function readRun(store: Store, id: string): RunRecord | undefined {
  const row = store.read('run-get', { id })[0];
  if (row === undefined) return undefined;
  return { run: parse<Run>(row), tasks: readTasks(store, id), steps: readSteps(store, id) };
}

/** Newest first. */
export function readRuns(store: Store): readonly Run[] {
  return store.read('run-list').map((row) => parse<Run>(row));
}

export function readActiveRuns(store: Store): readonly RunRecord[] {
  return readRuns(store)
    .filter((run) => !FINAL_STATES.has(run.state))
    .map((run) => ({ run, tasks: readTasks(store, run.id), steps: readSteps(store, run.id) }));
}

export function findStep(record: RunRecord, key: { task: TaskId; role: RoleName; attempt: number }): Step | undefined {
  return record.steps.find((step) => step.task === key.task && step.role === key.role && step.attempt === key.attempt);
}

export function readTask(store: Store, run: RunId, id: TaskId): Task | undefined {
  return readTasks(store, run).find((task) => task.id === id);
}

function readTasks(store: Store, run: string): readonly Task[] {
  return store.read('task-list', { run }).map((row) => parse<Task>(row));
}

function readSteps(store: Store, run: string): readonly Step[] {
  return store.read('step-list', { run }).map((row) => parse<Step>(row));
}

function parse<Shape>(row: Row): Shape {
  return JSON.parse(String(row['data'])) as Shape;
}
