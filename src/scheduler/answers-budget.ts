import { amountText, type BudgetUnit } from '../domain/amount.ts';
import type { Answer, Checkpoint } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { Step } from '../domain/run.ts';
import type { BudgetScope } from '../gateway/gateway.ts';
import { rowAmount } from '../gateway/row-amount.ts';
import type { AnswerContext, AnswerEffect, AnswerPlan } from './answer.ts';
import { goingOn, partiesOf } from './answers-step.ts';
import { type BudgetState, budgetState, dayOf, liveScopes } from './budgets.ts';
import { stepWrite, taskWrite } from './records.ts';
import { stepPolicy } from './step-policy.ts';

type Approval = Extract<Answer, { verdict: 'approve' }>;
type Rejection = Extract<Answer, { verdict: 'reject' }>;

/** `budget`: approve raises the cap and the same conversation goes on; reject ends the task. */
export function budgetAnswer(context: AnswerContext, answer: Answer): AnswerPlan {
  if (answer.verdict === 'reject') return { ok: true, effect: exhausted(context, answer) };
  const asked = readAsked(context.checkpoint);
  if (asked === undefined) return withoutScope(context, answer);
  const amount = asked.unit === 'usd' ? answer.usd : answer.tokens;
  if ((asked.unit === 'usd' ? answer.tokens : answer.usd) !== undefined) {
    const kind = asked.unit === 'usd' ? 'dollars' : 'work tokens';
    return usage(`this budget is counted in ${kind}: ${command(context, asked)}`);
  }
  if (amount === undefined) return unraised(context, asked);
  if (asked.isUnpriced) return usage(unpriced(context, asked));
  if (amount <= asked.limit) {
    const [given, limit] = [amountText(amount, asked.unit), amountText(asked.limit, asked.unit)];
    return usage(`${given} is not above the cap of ${limit}: ${command(context, asked)}`);
  }
  return { ok: true, effect: raised(context, asked, amount) };
}

/** What the checkpoint says about the budget that was reached. */
interface Asked {
  readonly scope: Required<Pick<BudgetScope, 'id' | 'unit'>>;
  readonly unit: BudgetUnit;
  readonly used: number;
  readonly limit: number;
  readonly needed: number;
  readonly isUnpriced: boolean;
}

/** Undefined when it was no budget of ours but the account behind the key. */
function readAsked({ payload }: Checkpoint): Asked | undefined {
  const id = payload['scope'];
  if (typeof id !== 'string') return undefined;
  const unit = payload['unit'] === 'usd' ? 'usd' : 'tokens';
  const number = (name: string) => Number(payload[name] ?? 0);
  const isUnpriced = payload['unpriced'] === true;
  return {
    scope: { id, unit },
    unit,
    used: number('used'),
    limit: number('limit'),
    needed: number('needed'),
    isUnpriced,
  };
}

function exhausted(context: AnswerContext, answer: Rejection): AnswerEffect {
  const { step, task } = partiesOf(context);
  const reason = `budget reached, not raised: ${answer.reason}`;
  return {
    writes: [
      stepWrite({ ...step, state: 'budget_exhausted', reason }),
      taskWrite({ ...task, state: 'budget_exhausted', reason }),
    ],
    message: `${task.id} ends as budget_exhausted.`,
  };
}

function withoutScope(context: AnswerContext, answer: Approval): AnswerPlan {
  if (answer.tokens !== undefined || answer.usd !== undefined) {
    const { id } = context.checkpoint;
    return usage(
      `no budget of yours was reached but the account of the key, so there is no cap to raise: once it has money again, orchestrator approve ${id}`,
    );
  }
  return { ok: true, effect: goOn(context, 'The call is made again') };
}

/** Without an amount it goes on when the budget has room all the same: a new day, or policies that say another cap. */
function unraised(context: AnswerContext, asked: Asked): AnswerPlan {
  const { step } = partiesOf(context);
  const now = stateNow(context, step, asked);
  const isEnough = now === undefined || now.limit === 'unlimited' || now.limit - now.used >= asked.needed;
  if (isEnough && !(asked.isUnpriced && now !== undefined)) {
    return { ok: true, effect: goOn(context, 'The budget has room by now') };
  }
  return usage(asked.isUnpriced ? unpriced(context, asked) : `say the new cap: ${command(context, asked)}`);
}

/** Undefined when the budget does not count for this step any more. */
function stateNow({ engine, run }: AnswerContext, step: Step, asked: Asked): BudgetState | undefined {
  const policy = stepPolicy(engine, run, step);
  const scopes = liveScopes(engine, { run, task: step.task, policy, day: dayOf(engine.clock.now()) });
  const scope = scopes.find((each) => each.id === asked.scope.id);
  return scope === undefined ? undefined : budgetState(engine, scope);
}

function raised(context: AnswerContext, asked: Asked, amount: number): AnswerEffect {
  const { scope, unit } = asked;
  const effect = goOn(context, `The cap is ${amountText(amount, unit)}${unit === 'tokens' ? ' work tokens' : ''} now`);
  const raise = { statement: 'budget-raise', params: { scope: scope.id, cap_milli: rowAmount(amount, unit) } };
  return { ...effect, writes: [raise, ...effect.writes], next: { kind: 'raise', scope, limit: amount } };
}

function goOn(context: AnswerContext, why: string): AnswerEffect {
  const { step, task } = partiesOf(context);
  return {
    writes: [stepWrite({ ...step, state: 'queued' }), taskWrite(goingOn(context, task))],
    message: `${why}; ${step.role} on ${task.id} goes on with the same conversation.`,
  };
}

function command({ checkpoint }: AnswerContext, { unit, used, needed }: Asked): string {
  switch (unit) {
    case 'tokens':
      return `orchestrator approve ${checkpoint.id} --tokens N, with N at least ${Math.ceil(used + needed)}`;
    case 'usd':
      return `orchestrator approve ${checkpoint.id} --usd N, with N at least ${Math.ceil((used + needed) * 100) / 100}`;
  }
}

function unpriced(context: AnswerContext, asked: Asked): string {
  const { id, role } = context.checkpoint;
  return `nobody knows the price of the model of ${role}, so a limit of ${amountText(asked.limit, 'usd')} can't be kept at any height: set budget.usd_task: null in policies/roles/${role}.yaml, run \`orchestrator policy reload\`, then orchestrator approve ${id}`;
}

function usage(message: string): AnswerPlan {
  return { ok: false, error: new OrchestratorError('usage', message) };
}
