import type { Finding } from '../domain/checkpoint.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { Step, Task } from '../domain/run.ts';
import type { Write } from '../store/store.ts';
import { clampedAnswers } from './clamped-answers.ts';
import { commitStep } from './commit-step.ts';
import { settleEffects } from './effects.ts';
import { commit } from './engine.ts';
import { openCheckpoint, type ParkReason } from './park.ts';
import { planWrites } from './plan-checkpoint.ts';
import { readTask, stepWrite, taskWrite } from './records.ts';
import { type Session, sessionEvent, withTime } from './session.ts';
import type { Sitting } from './step-driver.ts';

/** Why a sitting was broken off from outside. */
export type Interruption = 'cancelled' | 'conflict' | 'shutdown';

/**
 * Settles what a sitting left: snapshots and judges once more now that the agent's processes are gone, then commits,
 * parks or fails the step, in one transaction.
 */
export async function endSitting(sitting: Sitting, interruption: Interruption | undefined): Promise<void> {
  const { session, ending } = sitting;
  await settleLateWrites(session);
  if (!sitting.processes.dead) session.step = withRemark(session.step, dirtyEnd(sitting));
  switch (ending.reason) {
    case 'finish':
      if (session.staged !== undefined) {
        return park(sitting, { kind: 'boundary', paths: session.staged.paths, reason: 'found when the step ended' });
      }
      return finish(session, ending.summary);
    case 'parked':
      return park(sitting, ending.park);
    case 'budget':
      return park(sitting, { kind: 'budget', refusal: sitting.refusal, message: ending.message });
    case 'stalled':
      return park(sitting, { kind: 'stalled', message: ending.message });
    case 'failed':
      return write(session, failWrites(session, ending.message));
    case 'interrupted':
      return write(session, interruptedWrites(session, interruption));
  }
}

/** Ends a step and its task without a result. */
export function failWrites(session: Session, reason: string): readonly Write[] {
  return [
    stepWrite({ ...withTime(session), state: 'failed', reason }),
    taskWrite({ ...currentTask(session), state: 'failed', reason: `${session.step.role} failed: ${reason}` }),
    sessionEvent(session, 'step-failed', { reason }),
  ];
}

async function settleLateWrites(session: Session): Promise<void> {
  const effects = await settleEffects(session);
  session.step = { ...session.step, violations: session.step.violations + effects.violations };
  session.acceptedTree = effects.tree;
  await commit(session.engine.store, [...effects.writes, stepWrite(withTime(session))]);
}

async function park(sitting: Sitting, reason: ParkReason): Promise<void> {
  const { session } = sitting;
  await write(session, [
    ...(await openCheckpoint(session, currentTask(session), reason)),
    stepWrite({ ...withTime(session), state: 'paused' }),
    taskWrite({ ...currentTask(session), state: 'paused' }),
  ]);
}

async function finish(session: Session, summary: string): Promise<void> {
  const result = await commitStep(session, summary);
  const step: Step = {
    ...withTime(session),
    state: 'done',
    summary,
    ...(result.commit === undefined ? {} : { commit: result.commit, netLines: result.netLines }),
    remarks: [...session.step.remarks, ...result.remarks, ...clampedAnswers(session)],
  };
  await write(session, [
    stepWrite(step),
    ...result.writes,
    ...(await afterDone(session, step, result.commit)),
    sessionEvent(session, 'step-done', { summary, commit: result.commit ?? null }),
  ]);
}

/** What a finished step means for its task: its new head, a rework round, or the plan checkpoint. */
async function afterDone(session: Session, step: Step, made: ObjectId | undefined): Promise<readonly Write[]> {
  const task: Task = { ...currentTask(session), ...(made === undefined ? {} : { head: made }) };
  if (step.planned) return planWrites(session, task);
  // A review without a step before it has nobody to send the work back to: its findings are the result.
  if (step.verdict !== 'request_changes' || task.plan.steps[0] === step.role) return [taskWrite(task)];
  const limit = session.run.manifest.limits.reviewRounds * (1 + task.allowances);
  if (task.reviewRounds >= limit) {
    const asked = await openCheckpoint(session, task, { kind: 'review-rounds', findings: step.findings ?? [] });
    return [...asked, taskWrite({ ...task, state: 'paused' })];
  }
  return [
    taskWrite({
      ...task,
      round: task.round + 1,
      reviewRounds: task.reviewRounds + 1,
      rework: { reason: step.summary ?? 'the reviewer asked for changes', findings: step.findings ?? [] },
    }),
  ];
}

function interruptedWrites(session: Session, interruption: Interruption | undefined): readonly Write[] {
  const step = withTime(session);
  const task = currentTask(session);
  switch (interruption) {
    case 'cancelled':
      return [stepWrite({ ...step, state: 'cancelled' }), taskWrite({ ...task, state: 'cancelled' })];
    case 'conflict':
      return [stepWrite({ ...step, state: 'paused' }), taskWrite({ ...task, state: 'paused' })];
    case 'shutdown':
    case undefined:
      return [stepWrite({ ...step, state: 'queued' })];
  }
}

/** The task row as it is now: other parts may have changed it while the agent worked. */
function currentTask(session: Session): Task {
  return readTask(session.engine.store, session.run.id, session.task.id) ?? session.task;
}

function dirtyEnd(sitting: Sitting): Finding {
  const { task, step } = sitting.session;
  return {
    kind: 'dirty-end',
    text: `not proved that all processes ended: ${sitting.processes.evidence}`,
    task: task.id,
    role: step.role,
  };
}

function withRemark(step: Step, remark: Finding): Step {
  return { ...step, remarks: [...step.remarks, remark] };
}

async function write(session: Session, writes: readonly Write[]): Promise<void> {
  await commit(session.engine.store, writes);
}
