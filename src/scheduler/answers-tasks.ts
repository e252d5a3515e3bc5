import { conflictStateWrites } from '../checkpoints/records.ts';
import type { Answer } from '../domain/checkpoint.ts';
import type { ObjectId, TaskId } from '../domain/ids.ts';
import type { Task } from '../domain/run.ts';
import { FINAL_STATES, PLAN_TASK } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import type { AnswerContext, AnswerEffect } from './answer.ts';
import { runWrite, stepWrite, taskWrite } from './records.ts';

/** `plan`: the tasks start, or the run is rejected. */
export function planAnswer(context: AnswerContext, answer: Answer): AnswerEffect {
  const { engine, record, run } = context;
  const plan = record.tasks.find((task) => task.id === PLAN_TASK);
  const tasks = record.tasks.filter((task) => task.id !== PLAN_TASK);
  if (answer.verdict === 'approve') {
    return {
      writes: plan === undefined ? [] : [taskWrite({ ...plan, state: 'ready' })],
      message: tasks.length === 1 ? 'The task starts.' : `${tasks.length} tasks start.`,
    };
  }
  const reason = `the plan was rejected: ${answer.reason}`;
  return {
    writes: [
      runWrite({ ...run, state: 'rejected', reason }),
      eventWrite({ at: engine.clock.now(), type: 'run-ended', run: run.id, data: { state: 'rejected', reason } }),
      ...record.tasks.map((task) => taskWrite({ ...task, state: 'rejected', reason: answer.reason })),
    ],
    message: `Run ${run.id} is rejected.`,
  };
}

/** `conflict`: the later task waits and starts again from the other's result, or it is rejected. */
export function conflictAnswer(context: AnswerContext, answer: Answer): AnswerEffect {
  const { record, checkpoint } = context;
  const later = record.tasks.find((task) => task.id === checkpoint.payload['later']);
  if (later === undefined) return { writes: [], message: 'The task is gone.' };
  const others = checkpoint.payload['others'] as readonly TaskId[];
  const other = others.join(', ') || context.run.target;
  // Queued, where a crash came between the question and the end of the step.
  const open = record.steps.filter((step) => step.task === later.id && !FINAL_STATES.has(step.state));
  const settled = [...settledWrites(context), ...voidOthers(context, later)];
  if (answer.verdict === 'reject') {
    const reason = `in conflict with ${other}: ${answer.reason}`;
    return {
      writes: [
        ...settled,
        ...open.map((step) => stepWrite({ ...step, state: 'rejected', reason })),
        taskWrite({ ...later, state: 'rejected', reason }),
      ],
      message: others.length === 0 ? `${later.id} is rejected.` : `${later.id} is rejected; ${other} goes on.`,
    };
  }
  const reason = `superseded: ${later.id} starts again from ${other}`;
  return {
    writes: [
      ...settled,
      ...open.map((step) => stepWrite({ ...step, state: 'cancelled', reason })),
      taskWrite(restarted(later, others, checkpoint.payload['restartFrom'])),
    ],
    message:
      others.length === 0
        ? `${later.id} starts again from ${other} as it is now.`
        : `${later.id} waits for ${other} and starts again from its result.`,
  };
}

/** A task that begins again from the result of others; what it did so far stays in the store. */
function restarted(task: Task, after: readonly TaskId[], from: unknown): Task {
  const { base: _base, head: _head, reason: _reason, rework: _rework, ...rest } = task;
  const base = typeof from === 'string' ? { base: from as ObjectId } : {};
  return { ...rest, ...base, state: 'queued', round: task.round + 1, after: [...new Set([...task.after, ...after])] };
}

/** Other questions of a task that does not go on from where they were asked. */
function voidOthers(context: AnswerContext, task: Task): readonly Write[] {
  const { engine, run, checkpoint } = context;
  return engine.checkpoints
    .list({ all: false, run: run.id })
    .filter((other) => other.task === task.id && other.id !== checkpoint.id)
    .flatMap((other) => engine.checkpoints.voidWrites(other.id, `answered by ${checkpoint.id}`));
}

function settledWrites(context: AnswerContext): readonly Write[] {
  const { engine, run, checkpoint } = context;
  const ids = checkpoint.payload['conflicts'] as readonly string[];
  const at = engine.clock.now();
  return ids.flatMap((id) => conflictStateWrites({ id, run: run.id, state: 'resolved', at }));
}
