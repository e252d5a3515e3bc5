import type { Park } from '../agents/runner.ts';
import type { NewCheckpoint } from '../checkpoints/checkpoints.ts';
import { amountText } from '../domain/amount.ts';
import type { ShownPath } from '../domain/checkpoint-text.ts';
import { escapeForDisplay, quoteLines } from '../domain/escape.ts';
import type { RepoPath } from '../domain/path.ts';
import type { ReviewFinding, Task } from '../domain/run.ts';
import type { Refusal } from '../gateway/gateway.ts';
import type { Write } from '../store/store.ts';
import { bindingOf, contentHash } from './binding.ts';
import type { Session } from './session.ts';
import { isGrantable, openViolations } from './violations.ts';

/** Why a step waits for a human. */
export type ParkReason =
  | Park
  | { readonly kind: 'budget'; readonly refusal: Refusal | undefined; readonly message: string }
  | { readonly kind: 'stalled'; readonly message: string }
  | { readonly kind: 'review-rounds'; readonly findings: readonly ReviewFinding[] };

type Question = Pick<NewCheckpoint, 'kind' | 'summary' | 'body' | 'payload'> &
  Partial<Pick<NewCheckpoint, 'diff'>> & {
    readonly action: string;
    readonly content: string;
    readonly paths: NewCheckpoint['binding']['paths'];
  };

/** The rows of the checkpoint; the caller adds the state that goes with it. */
export async function openCheckpoint(session: Session, task: Task, reason: ParkReason): Promise<readonly Write[]> {
  const { engine, run, step } = session;
  const { action, content, paths, ...question } = await questionOf(session, task, reason);
  const { writes } = engine.checkpoints.prepare({
    ...question,
    run: run.id,
    task: task.id,
    role: step.role,
    attempt: step.attempt,
    findings: step.remarks,
    binding: await bindingOf(engine, run, { action, content, paths }),
  });
  return writes;
}

async function questionOf(session: Session, task: Task, reason: ParkReason): Promise<Question> {
  switch (reason.kind) {
    case 'boundary':
      return reason.toolCallId === undefined
        ? stagedQuestion(session, task, reason.reason)
        : askQuestion(session, task, reason);
    case 'violation':
      return violationQuestion(session, task, reason.reason);
    case 'budget':
      return budgetQuestion(session, task, reason);
    case 'stalled':
      return stalledQuestion(session, task, reason.message, 'step');
    case 'review-rounds': {
      const findings = reason.findings.flatMap(({ path, text }) => quoteLines(`${path ?? ''} ${text}`));
      const rounds = task.reviewRounds === 1 ? '1 round' : `${task.reviewRounds} rounds`;
      const message = `the reviewer still asks for changes after ${rounds}`;
      return stalledQuestion(session, task, [message, ...findings].join('\n'), 'review-rounds');
    }
  }
}

/** A tool call or request_access that waits: nothing has been written yet. */
function askQuestion(session: Session, task: Task, park: Extract<Park, { kind: 'boundary' }>): Question {
  const names = park.paths.join(', ');
  return {
    kind: 'boundary',
    action: 'grant',
    summary: `${session.step.role} asks to write ${names}`,
    body: [`Task ${task.id}: ${task.plan.title}`, 'Reason given:', ...quoteLines(park.reason)].join('\n'),
    content: contentHash('grant', session.agent, park.toolCallId, park.paths),
    paths: park.paths,
    payload: { scope: 'tool', toolCallId: park.toolCallId, paths: judgedPaths(session, park.paths) },
  };
}

/** An effect that was found in a snapshot: saved, undone, and applied exactly as shown on approval. */
async function stagedQuestion(session: Session, task: Task, why: string): Promise<Question> {
  const staged = session.staged;
  const paths = staged?.paths ?? [];
  const tree = staged?.tree ?? session.acceptedTree;
  const diff = (await session.engine.git.patch(session.acceptedTree, tree, paths)).toString('utf8');
  return {
    kind: 'boundary',
    action: 'apply-staged',
    diff,
    summary: `${session.step.role} changed ${paths.join(', ')}, which needs your consent`,
    body: `Task ${task.id}: ${task.plan.title}\nThe change was saved and undone (${why}); the exact diff is below.`,
    content: contentHash('apply-staged', session.agent, tree, paths),
    paths,
    payload: { scope: 'staged', tree, patch: staged?.patch ?? null, paths: judgedPaths(session, paths) },
  };
}

/** As the text of a checkpoint shows them: with the decision and the rule behind it. */
function judgedPaths(session: Session, paths: readonly RepoPath[]): readonly ShownPath[] {
  return paths.map((path) => {
    const { decision, rule } = session.decider.decide(session.step.role, 'modify', path);
    return { path, decision, ...(rule === undefined ? {} : { rule }) };
  });
}

function violationQuestion(session: Session, task: Task, why: string): Question {
  const { step } = session;
  const tried = openViolations(session.engine.store, step);
  const paths = [...new Set(tried.filter(isGrantable).map((violation) => violation.path))];
  const refused = new Set(tried.filter((violation) => !isGrantable(violation)).map((violation) => violation.path));
  const listed = new Map(
    tried.map(({ path, decision, rule }) => [path, { path, decision, ...(rule === undefined ? {} : { rule }) }]),
  );
  return {
    kind: 'violation',
    action: 'grant',
    summary: `${step.role} keeps writing outside its boundary`,
    body: [
      `Task ${task.id}: ${task.plan.title}`,
      `${why}.`,
      paths.length === 0
        ? 'Approve: the step goes on and counts anew; none of these paths can be granted.'
        : 'Approve: these paths may be written in this task; what is written there is shown once more at the merge:',
      ...paths.map((path) => `  ${escapeForDisplay(path)}`),
      ...(refused.size === 0
        ? []
        : ['These stay refused:', ...[...refused].map((path) => `  ${escapeForDisplay(path)}`)]),
    ].join('\n'),
    content: contentHash('violation', session.agent, step.violations, session.acceptedTree),
    paths,
    payload: { scope: 'violations', paths: [...listed.values()] },
  };
}

function budgetQuestion(session: Session, task: Task, reason: Extract<ParkReason, { kind: 'budget' }>): Question {
  const { refusal, message } = reason;
  const heading = `Task ${task.id}: ${task.plan.title}\nThe request was not sent.`;
  const asked = { kind: 'budget', action: 'raise-budget', paths: [] } as const;
  if (refusal === undefined) {
    return {
      ...asked,
      summary: `the account behind the key of ${session.step.role} is empty: ${message}`,
      body: `Task ${task.id}: ${task.plan.title}\nApprove once it has money again; the same conversation goes on.`,
      content: contentHash('raise-budget', session.agent, message),
      payload: { scope: null },
    };
  }
  const { scope, unit, label, used, limit, needed, isUnpriced } = refusal;
  const flag = unit === 'usd' ? '--usd N' : '--tokens N';
  return {
    ...asked,
    summary: `budget of ${label} reached: ${refusalText(refusal)}`,
    body: isUnpriced
      ? `${heading} Take the limit in dollars out of the policy (budget.usd_task: null), reload it, and approve; the same conversation goes on.`
      : `${heading} Approve with ${flag}, the new cap of this budget; the same conversation goes on.`,
    content: contentHash('raise-budget', scope, limit),
    payload: { scope, unit, used, limit, needed, ...(isUnpriced ? { unpriced: true } : {}) },
  };
}

function refusalText({ unit, used, held, limit, needed, isUnpriced }: Refusal): string {
  const amount = (value: number) => amountText(value, unit);
  if (isUnpriced) return `it has a limit of ${amount(limit)}, and nobody knows the price of the model`;
  const kind = unit === 'tokens' ? ' work tokens' : '';
  return `${amount(used)} used and ${amount(held)} held of ${amount(limit)}${kind}; the next call needs at least ${amount(needed)}`;
}

function stalledQuestion(session: Session, task: Task, message: string, allowance: 'step' | 'review-rounds'): Question {
  return {
    kind: 'stalled',
    action: 'allow-again',
    summary: `${session.step.role} on ${task.id} is stalled: ${message.split('\n')[0]}`,
    body: `Task ${task.id}: ${task.plan.title}\n${message}`,
    content: contentHash('stalled', session.agent, message, session.step.allowances),
    paths: [],
    payload: { scope: allowance },
  };
}
