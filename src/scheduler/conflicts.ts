import { conflictWrites, readConflicts } from '../checkpoints/records.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { ObjectId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Run, Task } from '../domain/run.ts';
import type { Conflict, ConflictKind } from '../domain/violation.ts';
import { eventWrite } from '../store/events.ts';
import { bindingOf, contentHash } from './binding.ts';
import { commit, type Engine } from './engine.ts';
import { type RunRecord, readRun, runWrite, stepWrite, taskWrite } from './records.ts';

export interface FoundConflict {
  readonly run: Run;
  readonly paths: readonly RepoPath[];
  /** Both parties; the one with the highest number is the one that is told to move. */
  readonly tasks: readonly TaskId[];
  readonly kind: ConflictKind;
  readonly roles?: readonly RoleName[];
  /** Where the later task starts again when it collides with the target itself. */
  readonly restartFrom?: ObjectId;
}

/** Whether a conflict between these tasks is already before a human, or was settled by letting one wait. */
export function isKnown(engine: Engine, run: RunId, tasks: readonly TaskId[]): boolean {
  const wanted = [...tasks].sort().join(' ');
  return readConflicts(engine.store, { run }).some(
    (conflict) => conflict.state === 'open' && [...conflict.tasks].sort().join(' ') === wanted,
  );
}

/** Records the conflict, parks the later task, and asks. Nothing is resolved by itself. */
export async function openConflict(engine: Engine, found: FoundConflict): Promise<void> {
  const record = readRun(engine.store, found.run.id);
  const later = record?.tasks
    .filter((task) => found.tasks.includes(task.id))
    .sort(byNumber)
    .at(-1);
  if (record === undefined || later === undefined) return;
  const others = found.tasks.filter((id) => id !== later.id);
  const other = others.length === 0 ? found.run.target : others.join(', ');
  const roles = found.roles ?? rolesOf(record, found.tasks);
  const now = engine.clock.now();
  const rows = found.paths.map(
    (path): Conflict => ({
      id: `x-${engine.random(8)}`,
      run: found.run.id,
      path,
      kind: found.kind,
      roles,
      tasks: found.tasks,
      state: 'open',
    }),
  );
  const { writes } = engine.checkpoints.prepare({
    kind: 'conflict',
    run: found.run.id,
    task: later.id,
    summary: `${other} and ${later.id} both change ${found.paths.slice(0, 3).join(', ')}${found.paths.length > 3 ? ` and ${found.paths.length - 3} more` : ''}`,
    body: [
      ...found.tasks.map((id) => `${id}: ${record.tasks.find((task) => task.id === id)?.plan.title ?? ''}`),
      `kind: ${found.kind}; paths:`,
      ...found.paths.map((path) => `  ${escapeForDisplay(path)}`),
      `Approve: ${later.id} ${others.length === 0 ? `starts again from ${other} as it is now` : `waits for ${other} and starts again from its result`}; what ${later.id} has spent so far is spent (${costOf(engine, later)} work tokens).`,
      `Reject: ${later.id} is rejected, ${other} stays as it is.`,
    ].join('\n'),
    binding: await bindingOf(engine, found.run, {
      action: 'wait-for',
      content: contentHash('conflict', found.tasks, later.round),
      paths: found.paths,
    }),
    payload: {
      restartFrom: found.restartFrom ?? null,
      later: later.id,
      others,
      round: later.round,
      conflicts: rows.map((row) => row.id),
    },
  });
  await commit(engine.store, [
    ...rows.flatMap((row) => conflictWrites(row, now)),
    ...writes,
    taskWrite({ ...later, state: 'paused', reason: `in conflict with ${other}` }),
    ...record.steps
      .filter((step) => step.task === later.id && step.state === 'queued')
      .map((step) => stepWrite({ ...step, state: 'paused' })),
    ...(record.run.state === 'verifying' ? [runWrite({ ...record.run, state: 'running' })] : []),
    eventWrite({
      at: now,
      type: 'conflict',
      run: found.run.id,
      task: later.id,
      data: { tasks: found.tasks, paths: found.paths, kind: found.kind },
    }),
  ]);
}

function rolesOf(record: RunRecord, tasks: readonly TaskId[]): readonly RoleName[] {
  return [...new Set(record.steps.filter((step) => tasks.includes(step.task)).map((step) => step.role))];
}

function costOf(engine: Engine, task: Task): string {
  const row = engine.store.read('call-work-by-task', { run: task.run, task: task.id })[0];
  return Math.round(Number(row?.['work_milli'] ?? 0) / 1000).toLocaleString('en-US');
}

function byNumber(first: Task, second: Task): number {
  return Number(first.id.slice(1)) - Number(second.id.slice(1));
}
