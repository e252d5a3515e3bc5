import { OrchestratorError } from '../domain/errors.ts';
import type { Task } from '../domain/run.ts';
import { FINAL_STATES } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import type { Dispatcher } from './dispatcher.ts';
import { commit, type Engine } from './engine.ts';
import { endingWrites, type RunRecord, readRun, runWrite, stepWrite, taskWrite } from './records.ts';

/** Ends a run: its agents are stopped and settled, its open questions become void. What it made stays in the store. */
export async function cancelRun(engine: Engine, dispatcher: Dispatcher, id: string): Promise<void> {
  const before = known(engine, id);
  if (FINAL_STATES.has(before.run.state)) {
    throw new OrchestratorError('refused', `run ${id} is ${before.run.state} already`);
  }
  await commit(engine.store, [runWrite({ ...before.run, state: 'cancelled', reason: 'cancelled by the user' })]);
  await dispatcher.interrupt({ run: before.run.id }, 'cancelled');
  await finishCancelling(engine, known(engine, id));
}

/** The second half of a cancellation; a daemon that died before it does it at the next start. */
export async function finishCancelling(engine: Engine, record: RunRecord): Promise<void> {
  await commit(engine.store, [
    ...endingWrites(record, { state: 'cancelled', reason: 'cancelled by the user' }),
    ...record.steps
      .filter((step) => !FINAL_STATES.has(step.state))
      .map((step) => stepWrite({ ...step, state: 'cancelled' })),
    ...pendingOf(engine, record).flatMap((checkpoint) =>
      engine.checkpoints.voidWrites(checkpoint.id, 'the run was cancelled'),
    ),
    eventWrite({ at: engine.clock.now(), type: 'run-ended', run: record.run.id, data: { state: 'cancelled' } }),
  ]);
}

/** A task that failed, was rejected or ran out of budget begins one more round from what it has. */
export async function retryTask(
  engine: Engine,
  dispatcher: Dispatcher,
  request: { run: string; task: string },
): Promise<void> {
  const record = known(engine, request.run);
  const task = record.tasks.find((each) => each.id === request.task);
  if (task === undefined) {
    throw new OrchestratorError(
      'usage',
      `run ${request.run} has no task ${request.task}; it has ${record.tasks.map((each) => each.id).join(', ')}`,
    );
  }
  if (!FINAL_STATES.has(task.state) || task.state === 'merged') {
    throw new OrchestratorError(
      'refused',
      `${task.id} is ${task.state}; only a task that ended without a merge can be tried again`,
    );
  }
  if (record.run.state === 'merged')
    throw new OrchestratorError('refused', `run ${record.run.id} is merged; start a new run`);
  await commit(engine.store, [
    taskWrite(again(task)),
    ...pendingOf(engine, record)
      .filter((checkpoint) => checkpoint.kind === 'merge')
      .flatMap((checkpoint) => engine.checkpoints.voidWrites(checkpoint.id, `${task.id} is tried again`)),
    runWrite({ ...record.run, state: 'running' }),
    eventWrite({
      at: engine.clock.now(),
      type: 'task-retried',
      run: record.run.id,
      task: task.id,
      data: { round: task.round + 1 },
    }),
  ]);
  dispatcher.wake();
}

/** Looks at a run again; a run that ended without a merge goes on with every task that can be tried again. */
export async function resumeRun(engine: Engine, dispatcher: Dispatcher, id: string): Promise<void> {
  const record = known(engine, id);
  if (record.run.state === 'merged')
    throw new OrchestratorError('refused', `run ${id} is merged; there is nothing to resume`);
  if (FINAL_STATES.has(record.run.state)) {
    const { reason: _reason, ...rest } = record.run;
    await commit(engine.store, [
      runWrite({ ...rest, state: 'running' }),
      ...record.tasks.filter((task) => FINAL_STATES.has(task.state)).map((task) => taskWrite(again(task))),
      eventWrite({ at: engine.clock.now(), type: 'run-resumed', run: record.run.id, data: {} }),
    ]);
  }
  dispatcher.wake();
}

function again(task: Task): Task {
  const { reason: _reason, ...rest } = task;
  return { ...rest, state: 'queued', round: task.round + 1 };
}

function pendingOf(engine: Engine, record: RunRecord): ReturnType<Engine['checkpoints']['list']> {
  return engine.checkpoints.list({ all: false, run: record.run.id });
}

function known(engine: Engine, id: string): RunRecord {
  const record = readRun(engine.store, id);
  if (record === undefined) throw new OrchestratorError('usage', `no run ${id}; \`orchestrator runs\` lists them`);
  return record;
}
