import type { Park } from '../agents/runner.ts';
import type { NewCheckpoint } from '../checkpoints/checkpoints.ts';
import type { ReviewFinding, Task } from '../domain/run.ts';
import type { Refusal } from '../gateway/gateway.ts';
import type { Write } from '../store/store.ts';
import { bindingOf, contentHash } from './binding.ts';
import type { Session } from './session.ts';

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
      const text = reason.findings.map((finding) => `${finding.path ?? ''} ${finding.text}`.trim()).join('\n');
      const message = `the reviewer still asks for changes after ${task.reviewRounds} rounds${text === '' ? '' : `:\n${text}`}`;
      return stalledQuestion(session, task, message, 'review-rounds');
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
    body: `Task ${task.id}: ${task.plan.title}\n${park.reason}`,
    content: contentHash('grant', session.agent, park.toolCallId, park.paths),
    paths: park.paths,
    payload: { scope: 'tool', toolCallId: park.toolCallId },
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
    body: `Task ${task.id}: ${task.plan.title}\n${why}. The change was saved and undone; the exact diff is below.`,
    content: contentHash('apply-staged', session.agent, tree, paths),
    paths,
    payload: { scope: 'staged', tree, patch: staged?.patch ?? null },
  };
}

function violationQuestion(session: Session, task: Task, why: string): Question {
  const { step } = session;
  return {
    kind: 'violation',
    action: 'grant',
    summary: `${step.role} keeps writing outside its boundary`,
    body: `Task ${task.id}: ${task.plan.title}\n${why}. Approve: those paths (never and generated ones excepted) may be written in this task.`,
    content: contentHash('violation', session.agent, step.violations, session.acceptedTree),
    paths: [],
    payload: { scope: 'violations' },
  };
}

function budgetQuestion(session: Session, task: Task, reason: Extract<ParkReason, { kind: 'budget' }>): Question {
  const { refusal } = reason;
  const numbers = refusal
    ? `${format(refusal.used)} used and ${format(refusal.held)} held of ${format(refusal.limit)} work tokens; the next call needs at least ${format(refusal.needed)}`
    : reason.message;
  return {
    kind: 'budget',
    action: 'raise-budget',
    summary: `budget of ${refusal?.label ?? session.step.role} reached: ${numbers}`,
    body: `Task ${task.id}: ${task.plan.title}\nThe request was not sent. Approve with --tokens N, the new cap of this budget; the same conversation goes on.`,
    content: contentHash('raise-budget', refusal?.scope, refusal?.limit),
    paths: [],
    payload: {
      scope: refusal?.scope ?? null,
      used: refusal?.used ?? 0,
      limit: refusal?.limit ?? 0,
      needed: refusal?.needed ?? 0,
    },
  };
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

function format(tokens: number): string {
  return Math.round(tokens).toLocaleString('en-US');
}
