import type { AnswerResult } from '../api/backend.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import { renderCheckpoint, renderDiff } from './checkpoint-view.ts';
import type { Key } from './keys.ts';
import type { Paint } from './paint.ts';
import { openReview, promptText, type ReviewCommand, type ReviewState, reduceReview } from './review-state.ts';

/** What the loop needs from its surroundings. */
export interface ReviewPort {
  approve(
    checkpoint: Checkpoint,
    given: { tokens?: number; usd?: number; despiteVerify?: boolean },
  ): Promise<AnswerResult>;
  reject(checkpoint: Checkpoint, given: { reason: string; rework: boolean }): Promise<AnswerResult>;
  find(id: string): Promise<Checkpoint | undefined>;
  /** The next key press; undefined when the terminal has gone. */
  nextKey(): Promise<Key | undefined>;
  write(text: string): void;
}

export interface ReviewSummary {
  readonly approved: number;
  readonly rejected: number;
  readonly skipped: number;
  /** The person left (q, Ctrl-C, or the terminal closed) before the last one. */
  readonly quit: boolean;
}

/** Walks the checkpoints, one question each. A void one is replaced in place by the question that shows what changed. */
export async function reviewLoop(
  pending: readonly Checkpoint[],
  port: ReviewPort,
  paint: Paint,
): Promise<ReviewSummary> {
  const queue = [...pending];
  const counts = { approved: 0, rejected: 0, skipped: 0 };
  for (let checkpoint = queue.shift(); checkpoint !== undefined; checkpoint = queue.shift()) {
    const outcome = await reviewOne(checkpoint, port, paint);
    if (outcome === 'quit') return { ...counts, quit: true };
    if (typeof outcome === 'string') counts[outcome] += 1;
    else if (outcome.replacedBy !== undefined) {
      const replacement = await port.find(outcome.replacedBy);
      if (replacement?.state === 'pending') queue.unshift(replacement);
    }
  }
  return { ...counts, quit: false };
}

type Outcome = 'approved' | 'rejected' | 'skipped' | 'quit' | { readonly replacedBy: string | undefined };

async function reviewOne(checkpoint: Checkpoint, port: ReviewPort, paint: Paint): Promise<Outcome> {
  port.write(`\n${renderCheckpoint(checkpoint, paint)}`);
  let state = openReview(checkpoint);
  for (;;) {
    port.write(`\r\x1b[K${paint.strong(promptText(state))}`);
    const key = await port.nextKey();
    if (key === undefined) return 'quit';
    const step = reduceReview(state, key);
    state = step.state;
    if (step.state.hint !== undefined) {
      port.write(`\n${paint.faint(escapeForDisplay(step.state.hint))}\n`);
      state = { checkpoint, prompt: state.prompt };
    }
    if (step.command === undefined) continue;
    port.write('\n');
    const done = await carryOut(step.command, state, port, paint);
    if ('outcome' in done) return done.outcome;
    state = done.state;
  }
}

async function carryOut(
  command: ReviewCommand,
  state: ReviewState,
  port: ReviewPort,
  paint: Paint,
): Promise<{ readonly outcome: Outcome } | { readonly state: ReviewState }> {
  const { checkpoint } = state;
  switch (command.kind) {
    case 'quit':
      return { outcome: 'quit' };
    case 'skip':
      return { outcome: 'skipped' };
    case 'show-diff':
      port.write(renderDiff(checkpoint, paint));
      return { state };
    case 'approve':
    case 'reject':
      return answer(command, checkpoint, port, paint);
  }
}

async function answer(
  command: Extract<ReviewCommand, { kind: 'approve' | 'reject' }>,
  checkpoint: Checkpoint,
  port: ReviewPort,
  paint: Paint,
): Promise<{ readonly outcome: Outcome } | { readonly state: ReviewState }> {
  try {
    const result =
      command.kind === 'approve' ? await port.approve(checkpoint, command) : await port.reject(checkpoint, command);
    const tone = result.state === 'void' ? paint.warning : paint.good;
    port.write(`${tone(`${result.id} ${result.state}:`)} ${escapeForDisplay(result.message)}\n`);
    return { outcome: result.state === 'void' ? { replacedBy: result.replacedBy } : result.state };
  } catch (error) {
    if (!(error instanceof OrchestratorError) || error.code === 'no-daemon' || error.code === 'interrupted')
      throw error;
    for (const line of [error.message, ...error.details]) port.write(`${paint.bad(escapeForDisplay(line))}\n`);
    if (error.code === 'refused' && /--despite-verify/.test([error.message, ...error.details].join('\n'))) {
      return { state: { checkpoint, prompt: { kind: 'despite-verify', typed: '' } } };
    }
    return { state: openReview(checkpoint) };
  }
}
