import type { Answer } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { Task } from '../domain/run.ts';
import { PLAN_TASK } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import type { AnswerContext, AnswerPlan } from './answer.ts';
import { endingWrites, runWrite, taskWrite } from './records.ts';

/** `merge` rejected: the run is rejected, or with `--rework` the reason goes back to the coder of the named task. */
export function mergeRejected(context: AnswerContext, answer: Extract<Answer, { verdict: 'reject' }>): AnswerPlan {
  const { engine, record, run } = context;
  const tasks = record.tasks.filter((task) => task.id !== PLAN_TASK);
  if (!answer.rework) {
    return {
      ok: true,
      effect: {
        writes: [
          ...endingWrites(record, { state: 'rejected', reason: answer.reason }),
          eventWrite({
            at: engine.clock.now(),
            type: 'run-ended',
            run: run.id,
            data: { state: 'rejected', reason: answer.reason },
          }),
        ],
        message: `Run ${run.id} is rejected; its commits stay in the daemon's store.`,
      },
    };
  }
  const named =
    answer.task === undefined
      ? tasks.filter((task) => task.state === 'ready')
      : tasks.filter((task) => task.id === answer.task);
  if (named.length === 0) {
    const ids = tasks.map((task) => task.id).join(', ');
    return {
      ok: false,
      error: new OrchestratorError('usage', `no task ${answer.task ?? ''} to rework; the run has ${ids}`),
    };
  }
  return {
    ok: true,
    effect: {
      writes: [
        runWrite({ ...run, state: 'running' }),
        ...named.map((task) => taskWrite(sentBack(task, answer.reason))),
      ],
      message: `${named.map((task) => task.id).join(', ')} goes back to work with your reason; a new merge checkpoint follows.`,
    },
  };
}

/** Goes on from what the task has, with one more round. */
function sentBack(task: Task, reason: string): Task {
  const { reason: _reason, ...rest } = task;
  return {
    ...rest,
    state: 'running',
    round: task.round + 1,
    rework: { reason: `A human sent it back: ${reason}`, findings: [] },
  };
}
