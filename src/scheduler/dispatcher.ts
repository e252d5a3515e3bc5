import type { Checkpoint } from '../domain/checkpoint.ts';
import { messageOf } from '../domain/errors.ts';
import type { RunId, TaskId } from '../domain/ids.ts';
import type { RunState, Task } from '../domain/run.ts';
import { FINAL_STATES } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import { commit, type Engine } from './engine.ts';
import { finishMerge } from './merge-finish.ts';
import { prepareMerge } from './merge-prepare.ts';
import { expectedPathsOverlap } from './overlap.ts';
import { type Action, mergeKey, nextActions, stepKey } from './plan.ts';
import { endingWrites, type RunRecord, readActiveRuns, readRun, runWrite, taskWrite } from './records.ts';
import { runLimitProblem } from './run-limits.ts';
import { isDeclined, openRunStalled } from './run-stalled.ts';
import type { Interruption } from './step-end.ts';
import { performStep } from './step-perform.ts';

export interface Dispatcher {
  /** Looks again soon; cheap, may be called from anywhere. */
  wake(): void;
  /** Stops the agents of a run or of one task; resolves when they have settled. */
  interrupt(who: { run: RunId; task?: TaskId }, why: Interruption): Promise<void>;
  /** Carries an approved merge out. */
  merge(checkpoint: Checkpoint): Promise<void>;
  /** Takes no new work; resolves when what runs has come to rest (or at once with `now`, agents interrupted). */
  stop(options: { now: boolean }): Promise<void>;
  readonly busy: ReadonlySet<string>;
}

interface Work {
  readonly run: RunId;
  readonly task: TaskId | undefined;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  why: Interruption | undefined;
}

/** Acts on what `nextActions` says, one piece of work a key, and never twice the same at a time. */
export function startDispatcher(engine: Engine): Dispatcher {
  const work = new Map<string, Work>();
  const busy = new Set<string>();
  let stopping = false;
  let looking = false;
  let again = false;

  function wake(): void {
    again = true;
    if (!looking) void look();
  }

  async function look(): Promise<void> {
    looking = true;
    try {
      while (again && !stopping) {
        again = false;
        await act();
      }
    } catch (error) {
      engine.log.error({ error: messageOf(error) }, 'the dispatcher could not act; it looks again in five seconds');
      setTimeout(wake, 5000).unref();
    } finally {
      looking = false;
    }
  }

  async function act(): Promise<void> {
    const records = readActiveRuns(engine.store);
    const tracked = new Map<RunId, readonly string[]>();
    for (const record of records) tracked.set(record.run.id, await trackedPaths(engine, record));
    for (const record of records) await settleRunState(engine, record, busy);
    const allowed = await withinLimits(engine, readActiveRuns(engine.store));
    const actions = nextActions({
      records: allowed,
      freeSlots: engine.pool.free,
      busy,
      overlaps: (first, second) => expectedPathsOverlap(first, second, tracked.get(first.run) ?? []),
    });
    for (const action of actions) await start(action);
  }

  async function start(action: Action): Promise<void> {
    switch (action.kind) {
      case 'start-step':
        return begin(stepKey(action), action.run, action.task, (piece) => performStep(engine, action, piece));
      case 'prepare-merge':
        return begin(mergeKey(action.run), action.run, undefined, async () => {
          const prepared = await prepareMerge(engine, action.run);
          if (prepared.state === 'asked' && prepared.direct) await finishMerge(engine, prepared.checkpoint);
        });
      case 'end-task':
        return endTask(action.run, action.task, action.state, action.reason);
      case 'end-run':
        return endRun(action.run, action.state, action.reason);
    }
  }

  function begin(
    key: string,
    run: RunId,
    task: TaskId | undefined,
    perform: (piece: { signal: AbortSignal; why: () => Interruption | undefined }) => Promise<void>,
  ): void {
    if (busy.has(key) || stopping) return;
    busy.add(key);
    const abort = new AbortController();
    const done = (async () => {
      try {
        await perform({ signal: abort.signal, why: () => piece.why });
      } catch (error) {
        engine.log.error({ key, error: messageOf(error) }, 'work failed');
        await failWork(engine, { run, task, message: messageOf(error) });
      } finally {
        busy.delete(key);
        work.delete(key);
        wake();
      }
    })();
    const piece: Work = { run, task, abort, done, why: undefined };
    work.set(key, piece);
  }

  async function endTask(run: RunId, id: TaskId, state: RunState, reason: string | undefined): Promise<void> {
    const task = readRun(engine.store, run)?.tasks.find((each) => each.id === id);
    if (task === undefined) return;
    await commit(engine.store, [
      taskWrite({ ...task, state, ...(reason === undefined ? {} : { reason }) }),
      eventWrite({
        at: engine.clock.now(),
        type: 'task-ended',
        run,
        task: id,
        data: { state, reason: reason ?? null },
      }),
    ]);
    again = true;
  }

  async function endRun(id: RunId, state: RunState, reason: string): Promise<void> {
    const record = readRun(engine.store, id);
    if (record === undefined) return;
    await commit(engine.store, [
      ...endingWrites(record, { state, reason }),
      eventWrite({ at: engine.clock.now(), type: 'run-ended', run: id, data: { state, reason } }),
    ]);
  }

  return {
    wake,
    busy,
    async interrupt(who, why) {
      const pieces = [...work.values()].filter(
        (piece) => piece.run === who.run && (who.task === undefined || piece.task === who.task),
      );
      for (const piece of pieces) {
        piece.why ??= why;
        piece.abort.abort();
      }
      await Promise.all(pieces.map((piece) => piece.done));
    },
    async merge(checkpoint) {
      const key = mergeKey(checkpoint.run);
      // The preparation that asked may not have put its things away yet.
      await work.get(key)?.done;
      begin(key, checkpoint.run, undefined, () => finishMerge(engine, checkpoint));
      await work.get(key)?.done;
    },
    async stop({ now }) {
      stopping = true;
      const pieces = [...work.values()];
      if (now) {
        for (const piece of pieces) {
          piece.why ??= 'shutdown';
          piece.abort.abort();
        }
      }
      await Promise.all(pieces.map((piece) => piece.done));
    },
  };
}

/** Paused when nothing runs and a human is asked, running when something does; merge has states of its own. */
async function settleRunState(engine: Engine, record: RunRecord, busy: ReadonlySet<string>): Promise<void> {
  const { tasks } = record;
  // Read again: the row may have moved while other runs were looked at.
  const run = readRun(engine.store, record.run.id)?.run ?? record.run;
  if (FINAL_STATES.has(run.state) || run.state === 'ready' || run.state === 'verifying') return;
  const works = [...busy].some((key) => key.includes(` ${run.id}`));
  const asked = engine.checkpoints.list({ all: false, run: run.id }).length > 0;
  const waits = asked || tasks.some((task) => task.state === 'paused');
  const state: RunState = works ? 'running' : waits ? 'paused' : run.state === 'queued' ? 'queued' : 'running';
  if (state === run.state) return;
  await commit(engine.store, [
    runWrite({ ...run, state }),
    eventWrite({ at: engine.clock.now(), type: 'run-state', run: run.id, data: { state } }),
  ]);
}

/** Runs over a limit of their own (commits, lines, wall clock) are held back and a human is asked once. */
async function withinLimits(engine: Engine, records: readonly RunRecord[]): Promise<readonly RunRecord[]> {
  const allowed: RunRecord[] = [];
  for (const record of records) {
    const problem = runLimitProblem(record, engine.runClock.running(record.run.id));
    if (problem === undefined || isDeclined(engine, record)) allowed.push(record);
    else await openRunStalled(engine, record, problem);
  }
  return allowed;
}

async function trackedPaths(engine: Engine, record: RunRecord): Promise<readonly string[]> {
  return record.tasks.length < 3
    ? []
    : (await engine.git.listTree(record.run.manifest.baseTree)).map((entry) => entry.path);
}

/** A part of the daemon failed under a step: the task says so and the run goes on with what is left. */
async function failWork(
  engine: Engine,
  failed: { run: RunId; task: TaskId | undefined; message: string },
): Promise<void> {
  const record = readRun(engine.store, failed.run);
  if (record === undefined) return;
  const task: Task | undefined = record.tasks.find((each) => each.id === failed.task);
  const event = eventWrite({
    at: engine.clock.now(),
    type: 'work-failed',
    run: failed.run,
    task: failed.task,
    data: { message: failed.message },
  });
  const rows =
    task === undefined
      ? [runWrite({ ...record.run, state: 'failed', reason: failed.message })]
      : [taskWrite({ ...task, state: 'failed', reason: failed.message })];
  await commit(engine.store, [...rows, event]).catch((error: unknown) => {
    engine.log.error({ error: messageOf(error) }, 'the failure could not be recorded');
  });
}
