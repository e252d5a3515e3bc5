import { messageOf } from '../domain/errors.ts';
import type { ObjectId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import { agentId } from '../domain/ids.ts';
import type { Run, Step, Task } from '../domain/run.ts';
import { mergeMessage, mergeTasks } from '../gate/merge-tasks.ts';
import { openConflict } from './conflicts.ts';
import { commit, type Engine } from './engine.ts';
import { readHistory } from './history.ts';
import { expectedPathsOverlap } from './overlap.ts';
import { predecessors } from './plan.ts';
import { findStep, type RunRecord, readRun, runWrite, taskWrite } from './records.ts';
import { sit } from './step-driver.ts';
import { endSitting, type Interruption } from './step-end.ts';
import { writeTranscript } from './transcript.ts';

interface Which {
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
  readonly attempt: number;
}

/** Takes a slot, lets the agent work, settles what it left and gives the slot back. */
export async function performStep(
  engine: Engine,
  which: Which,
  piece: { signal: AbortSignal; why: () => Interruption | undefined },
): Promise<void> {
  const record = readRun(engine.store, which.run);
  const found = record?.tasks.find((task) => task.id === which.task);
  if (record === undefined || found === undefined) return;
  const task = await withBase(engine, record, found);
  if (task === undefined) return;
  const step = findStep(record, which) ?? newStep(which);
  const start = step.start ?? task.head ?? task.base ?? record.run.manifest.baseCommit;
  const history = readHistory(engine.store, engine.checkpoints, step);
  const tree = history.tree ?? (await engine.git.treeOf(start));
  const workspace = await engine.pool.acquire(which, { commit: start, tree });
  if (workspace === undefined) return;
  const watched = {
    root: workspace.root,
    kind: 'workspace' as const,
    run: which.run,
    task: which.task,
    role: which.role,
  };
  engine.runClock.enter(which.run);
  // Placing watches takes long; what happens before they hear is seen by the snapshot at the turn's end.
  const watching = engine.watcher.add(watched).catch((error: unknown) => {
    engine.log.warn({ error: messageOf(error) }, 'a workspace is not watched; it is looked at when its turns end');
  });
  try {
    const sitting = await sit(engine, { run: record.run, task, step, start, workspace, history, signal: piece.signal });
    await endSitting(sitting, piece.why());
  } finally {
    await addActiveTime(engine, record.run, engine.runClock.leave(which.run));
    await watching;
    await engine.watcher.remove(workspace.root);
    await workspace.release();
    await writeTranscript(engine, { run: which.run, agent: agentId(which) });
  }
}

/** Where a task starts: the run's base, or the merged results of what it waited for. Undefined when those conflict. */
async function withBase(engine: Engine, record: RunRecord, task: Task): Promise<Task | undefined> {
  if (task.base !== undefined || task.id === 'T0') return task;
  const { run } = record;
  const paths = (await engine.git.listTree(run.manifest.baseTree)).map((entry) => entry.path);
  const before = predecessors(record, task, (first, second) => expectedPathsOverlap(first, second, paths));
  const heads = before.flatMap((other) =>
    other.state === 'ready' && other.head !== undefined
      ? [{ task: other.id, commit: other.head, title: other.plan.title }]
      : [],
  );
  const base = await resultOf(engine, run, heads);
  if (base.conflict !== undefined) {
    await openConflict(engine, {
      run,
      paths: base.conflict.paths,
      tasks: [...base.conflict.with, base.conflict.task],
      kind: 'textual',
    });
    return undefined;
  }
  const based: Task = { ...task, base: base.result, state: 'running' };
  await commit(engine.store, [taskWrite(based)]);
  return based;
}

function resultOf(
  engine: Engine,
  run: Run,
  heads: readonly { task: TaskId; commit: ObjectId; title: string }[],
): ReturnType<typeof mergeTasks> {
  return mergeTasks({
    git: engine.git,
    base: run.manifest.baseCommit,
    heads,
    author: run.manifest.author,
    message: (head) => mergeMessage(run.id, head),
    atMs: engine.clock.now(),
  });
}

function newStep(which: Which): Step {
  return { ...which, state: 'queued', activeMs: 0, allowances: 0, violations: 0, remarks: [] };
}

/** The run's own clock: only time in which an agent worked counts. */
async function addActiveTime(engine: Engine, run: Run, ms: number): Promise<void> {
  const record = readRun(engine.store, run.id);
  if (record === undefined) return;
  if (ms > 0) await commit(engine.store, [runWrite({ ...record.run, activeMs: record.run.activeMs + ms })]);
}
