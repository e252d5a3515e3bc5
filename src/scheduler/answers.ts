import type { Answer, Checkpoint } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { AnswerContext, AnswerEffect, AnswerPlan } from './answer.ts';
import { budgetAnswer } from './answers-budget.ts';
import { mergeRejected } from './answers-merge.ts';
import { continueStep, stalledAnswer } from './answers-step.ts';
import { conflictAnswer, planAnswer } from './answers-tasks.ts';
import { approvedGrants } from './approved-grants.ts';

/** The effects that product.md tables for approve and reject of each kind. */
export async function planAnswerEffect(context: AnswerContext, answer: Answer): Promise<AnswerPlan> {
  switch (context.checkpoint.kind) {
    case 'plan':
      return ok(planAnswer(context, answer));
    case 'merge':
      return mergeAnswer(context, answer);
    case 'budget':
      return budgetAnswer(context, answer);
    case 'stalled':
    case 'route':
      return ok(stalledAnswer(context, answer));
    case 'conflict':
      return ok(conflictAnswer(context, answer));
    case 'boundary':
    case 'violation':
    case 'command':
    case 'new-tool':
    case 'generated':
    case 'deny-workaround': {
      const granted = answer.verdict === 'approve' ? await approvedGrants(context) : undefined;
      return ok(await continueStep(context, answer, granted));
    }
  }
}

function mergeAnswer(context: AnswerContext, answer: Answer): AnswerPlan {
  if (answer.verdict === 'reject') return mergeRejected(context, answer);
  const verify = String(context.checkpoint.payload['verify']);
  if ((verify === 'failed' || verify === 'invalid') && !answer.despiteVerify) {
    return needsDespiteVerify(context.checkpoint, verify);
  }
  return ok({
    writes: [],
    message: 'The gate checks the result once more, then the target moves.',
    next: { kind: 'merge', run: context.run.id },
  });
}

function needsDespiteVerify(checkpoint: Checkpoint, verify: string): AnswerPlan {
  const message = `verify is ${verify}: approve with --despite-verify if you want it all the same (${checkpoint.id} stays open)`;
  return { ok: false, error: new OrchestratorError('refused', message) };
}

function ok(effect: AnswerEffect): AnswerPlan {
  return { ok: true, effect };
}
