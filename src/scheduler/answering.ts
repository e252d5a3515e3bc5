import type { AnswerResult } from '../api/backend.ts';
import type { Answer, Checkpoint } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { Write } from '../store/store.ts';
import type { AnswerEffect } from './answer.ts';
import { planAnswerEffect } from './answers.ts';
import { currentState } from './binding.ts';
import type { Dispatcher } from './dispatcher.ts';
import { commit, type Engine } from './engine.ts';
import { prepareMerge } from './merge-prepare.ts';
import { type RunRecord, readRun } from './records.ts';

/**
 * Answers a checkpoint once: the effect's rows join the transaction that uses it up. When what it is bound to has
 * changed it becomes void and a new one shows the difference.
 */
export async function answerCheckpoint(
  engine: Engine,
  dispatcher: Dispatcher,
  request: { id: string; digest?: string; answer: Answer },
): Promise<AnswerResult> {
  const checkpoint = engine.checkpoints.get(request.id);
  if (checkpoint === undefined) {
    throw new OrchestratorError('usage', `no checkpoint ${request.id}; \`orchestrator checkpoints\` lists what waits`);
  }
  if (checkpoint.kind === 'conflict' && checkpoint.task !== undefined) {
    // Its step may still be on the way to its end, and would then write over what the answer says.
    await dispatcher.interrupt({ run: checkpoint.run, task: checkpoint.task }, 'conflict');
  }
  const record = readRun(engine.store, checkpoint.run);
  if (record === undefined) throw new OrchestratorError('failed', `the run of ${checkpoint.id} is not recorded`);
  if (checkpoint.state !== 'pending') throw used(checkpoint);
  if (request.digest !== undefined && request.digest !== checkpoint.digest) {
    throw new OrchestratorError(
      'refused',
      `${checkpoint.id} is not what you were shown; look at it again with \`orchestrator show ${checkpoint.id}\``,
    );
  }
  const plan = await planAnswerEffect({ engine, record, run: record.run, checkpoint }, request.answer);
  if (!plan.ok) throw plan.error;
  const current = await currentState(engine, record.run, checkpoint.binding.content);
  const outcome = await engine.checkpoints.answer(checkpoint.id, request.answer, current, plan.effect.writes);
  switch (outcome.state) {
    case 'used':
      throw used(outcome.checkpoint);
    case 'void':
      return reopen(engine, record, checkpoint, outcome.changed);
    case 'accepted':
      return carryOut(engine, dispatcher, { record, checkpoint, effect: plan.effect, verdict: request.answer.verdict });
  }
}

async function carryOut(
  engine: Engine,
  dispatcher: Dispatcher,
  accepted: { record: RunRecord; checkpoint: Checkpoint; effect: AnswerEffect; verdict: Answer['verdict'] },
): Promise<AnswerResult> {
  const { checkpoint, effect, verdict } = accepted;
  const state = verdict === 'approve' ? 'approved' : 'rejected';
  const next = effect.next;
  if (next?.kind === 'raise') await engine.gateway.raise(next.scope, next.limit);
  if (next?.kind !== 'merge') {
    dispatcher.wake();
    return { id: checkpoint.id, state, message: effect.message };
  }
  await dispatcher.merge(checkpoint);
  const after = readRun(engine.store, checkpoint.run)?.run;
  if (after?.state === 'merged') {
    const message = `${after.target} is at ${after.commit}. Bring it into your branch with \`orchestrator land ${after.id}\`.`;
    return { id: checkpoint.id, state, message };
  }
  if (after?.state === 'failed') throw new OrchestratorError('refused', after.reason ?? 'the gate refused the result');
  return {
    id: checkpoint.id,
    state,
    message: after?.reason ?? 'The target has moved meanwhile; a new merge checkpoint shows the new result.',
  };
}

/** The same question again, bound to what holds now. */
async function reopen(
  engine: Engine,
  record: RunRecord,
  old: Checkpoint,
  changed: readonly string[],
): Promise<AnswerResult> {
  const what = changed.join(', ');
  if (old.kind === 'merge') {
    const prepared = await prepareMerge(engine, record.run.id, old);
    const replacedBy = prepared.state === 'asked' ? { replacedBy: prepared.checkpoint.id } : {};
    return { id: old.id, state: 'void', message: `${old.id} is void (${what}); nothing was merged.`, ...replacedBy };
  }
  const {
    id: _id,
    state: _state,
    digest: _digest,
    createdAt: _at,
    answeredAt: _answered,
    answer: _answer,
    ...question
  } = old;
  const current = await currentState(engine, record.run, old.binding.content);
  const { checkpoint, writes } = engine.checkpoints.prepare({
    ...question,
    body: `Since ${old.id}: ${what}.\n\n${old.body}`,
    binding: {
      ...old.binding,
      targetCommit: current.targetCommit as typeof old.binding.targetCommit,
      policyDigest: current.policyDigest,
    },
    replaces: old.id,
  });
  await commit(engine.store, writes as readonly Write[]);
  return {
    id: old.id,
    state: 'void',
    message: `${old.id} is void (${what}); ${checkpoint.id} shows it anew.`,
    replacedBy: checkpoint.id,
  };
}

function used(checkpoint: Checkpoint): OrchestratorError {
  return new OrchestratorError('refused', `${checkpoint.id} is ${checkpoint.state} already; an answer is used once`);
}
