import type { TurnRecord } from '../agents/runner.ts';
import type { Answer } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import { agentId } from '../domain/ids.ts';
import { PLAN_TASK, type Step, type Task } from '../domain/run.ts';
import type { Write } from '../store/store.ts';
import type { AnswerContext, AnswerEffect } from './answer.ts';
import type { ApprovedGrants } from './approved-grants.ts';
import { hasEnded } from './plan.ts';
import { runWrite, stepWrite, taskWrite } from './records.ts';

/** `boundary`, `violation`: the step goes on either way; the agent is told what was decided and why. */
export async function continueStep(
  context: AnswerContext,
  answer: Answer,
  granted: ApprovedGrants | undefined,
): Promise<AnswerEffect> {
  const { checkpoint } = context;
  const { step, task } = partiesOf(context);
  const told =
    answer.verdict === 'approve'
      ? `A human approved: ${granted?.summary ?? checkpoint.summary}.`
      : `A human refused (${answer.reason}). The change was discarded; go on without it.`;
  const notice = checkpoint.payload['toolCallId'] === undefined ? noticeWrites(context, step, told, granted?.tree) : [];
  return {
    writes: [
      ...(granted?.writes ?? []),
      ...notice,
      stepWrite({ ...step, state: 'queued', violations: checkpoint.kind === 'violation' ? 0 : step.violations }),
      taskWrite(goingOn(context, task)),
    ],
    message: `${step.role} on ${task.id} goes on.`,
  };
}

/** `stalled`: approve gives the same allowance again, reject fails the task (or, for a limit of the run, all that is open). */
export function stalledAnswer(context: AnswerContext, answer: Answer): AnswerEffect {
  const scope = context.checkpoint.payload['scope'];
  if (scope === 'run') return runStalledAnswer(context, answer);
  const { step, task } = partiesOf(context);
  if (answer.verdict === 'reject') {
    const reason = `stalled, not allowed again: ${answer.reason}`;
    const ended = step.state === 'done' ? [] : [stepWrite({ ...step, state: 'failed', reason })];
    return { writes: [...ended, taskWrite({ ...task, state: 'failed', reason })], message: `${task.id} is failed.` };
  }
  if (scope === 'review-rounds') {
    const again: Task = {
      ...task,
      state: 'running',
      round: task.round + 1,
      reviewRounds: task.reviewRounds + 1,
      allowances: task.allowances + 1,
      rework: { reason: step.summary ?? 'the reviewer asked for changes', findings: step.findings ?? [] },
    };
    return { writes: [taskWrite(again)], message: `${task.id} gets its review rounds again.` };
  }
  return {
    writes: [
      ...noticeWrites(
        context,
        step,
        'A human looked at it and lets you go on with the same allowance again.',
        undefined,
      ),
      stepWrite({ ...step, state: 'queued', allowances: step.allowances + 1 }),
      taskWrite(goingOn(context, task)),
    ],
    message: `${step.role} on ${task.id} gets the same allowance again.`,
  };
}

function runStalledAnswer(context: AnswerContext, answer: Answer): AnswerEffect {
  const { run, record } = context;
  if (answer.verdict === 'approve') {
    return {
      writes: [runWrite({ ...run, allowances: run.allowances + 1 })],
      message: 'The run gets the same allowance again.',
    };
  }
  const working = record.tasks.filter((task) => !hasEnded(task));
  // With every task at its end, it is their result that goes beyond the limit.
  const open =
    working.length > 0 ? working : record.tasks.filter((task) => task.id !== PLAN_TASK && task.state === 'ready');
  const reason = `the run was stalled: ${answer.reason}`;
  return {
    writes: open.map((task) => taskWrite({ ...task, state: 'failed', reason })),
    message: `Failed: ${open.map((task) => task.id).join(', ')}.`,
  };
}

/** Running again, unless another question of the same task is still open. */
export function goingOn(context: AnswerContext, task: Task): Task {
  const { engine, run, checkpoint } = context;
  const waits = engine.checkpoints
    .list({ all: false, run: run.id })
    .some((other) => other.id !== checkpoint.id && other.task === task.id);
  return { ...task, state: waits ? 'paused' : 'running' };
}

export function partiesOf(context: AnswerContext): { step: Step; task: Task } {
  const { checkpoint, record } = context;
  const task = record.tasks.find((each) => each.id === checkpoint.task);
  const step = record.steps.find(
    (each) => each.task === checkpoint.task && each.role === checkpoint.role && each.attempt === checkpoint.attempt,
  );
  if (task === undefined || step === undefined) {
    throw new OrchestratorError('failed', `checkpoint ${checkpoint.id} belongs to a step that is not there`);
  }
  return { step, task };
}

/** The human's answer as a sentence behind the last turn, and the tree with what was approved in it. */
function noticeWrites(context: AnswerContext, step: Step, text: string, tree: ObjectId | undefined): readonly Write[] {
  const agent = agentId(step);
  const last = context.engine.store.read('turn-list', { agent }).at(-1);
  if (last === undefined) return [];
  const turn = JSON.parse(String(last['data'])) as TurnRecord;
  const data = JSON.stringify({ ...turn, notices: [...turn.notices, text] });
  return [
    { statement: 'turn-notice', params: { agent, turn: turn.turn, data, snapshot: tree ?? last['snapshot'] ?? null } },
  ];
}
