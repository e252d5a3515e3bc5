import type { Checkpoint } from '../domain/checkpoint.ts';
import { parseDollars } from './dollar-amount.ts';
import type { Key } from './keys.ts';
import { parseTokenCount } from './token-count.ts';

/**
 * The question that is open for one checkpoint. `choose` waits for y n d e s q; the others collect what that answer
 * still needs, and escape brings them back to `choose`.
 */
export type Prompt =
  | { readonly kind: 'choose' }
  | { readonly kind: 'reason'; readonly typed: string }
  | { readonly kind: 'rework'; readonly reason: string }
  | { readonly kind: 'tokens' | 'usd'; readonly typed: string }
  /** The daemon wants it said that the verify result is known to be bad. */
  | { readonly kind: 'despite-verify'; readonly typed: string };

export interface ReviewState {
  readonly checkpoint: Checkpoint;
  readonly prompt: Prompt;
  /** What the last key was answered with, when it did not do anything. */
  readonly hint?: string;
}

/** What the loop has to do after a key. */
export type ReviewCommand =
  | { readonly kind: 'approve'; readonly tokens?: number; readonly usd?: number; readonly despiteVerify?: boolean }
  | { readonly kind: 'reject'; readonly reason: string; readonly rework: boolean }
  | { readonly kind: 'show-diff' }
  | { readonly kind: 'skip' }
  | { readonly kind: 'quit' };

export interface ReviewStep {
  readonly state: ReviewState;
  readonly command?: ReviewCommand;
}

export function openReview(checkpoint: Checkpoint): ReviewState {
  return { checkpoint, prompt: { kind: 'choose' } };
}

/** Pure: the next state of the question, and the command that the key completes. Ctrl-C quits from everywhere. */
export function reduceReview(state: ReviewState, key: Key): ReviewStep {
  if (key.kind === 'interrupt') return { state, command: { kind: 'quit' } };
  if (key.kind === 'escape') return ask(state, { kind: 'choose' });
  const prompt = state.prompt;
  switch (prompt.kind) {
    case 'choose':
      return key.kind === 'character' ? choose(state, key.text) : { state };
    case 'reason':
      return key.kind === 'enter'
        ? acceptReason(state, prompt.typed.trim())
        : ask(state, { ...prompt, typed: edit(prompt.typed, key) });
    case 'rework':
      return key.kind === 'character' ? chooseRework(state, prompt.reason, key.text) : { state };
    case 'tokens':
    case 'usd':
      return key.kind === 'enter'
        ? acceptAmount(state, prompt.kind, prompt.typed)
        : ask(state, { ...prompt, typed: edit(prompt.typed, key) });
    case 'despite-verify':
      return key.kind === 'enter'
        ? acceptDespite(state, prompt.typed)
        : ask(state, { ...prompt, typed: edit(prompt.typed, key) });
  }
}

/** The line that stands before the cursor. */
export function promptText(state: ReviewState): string {
  const prompt = state.prompt;
  switch (prompt.kind) {
    case 'choose':
      return `${state.checkpoint.kind} ${state.checkpoint.id}: approve? [y,n,d,e,s,q,?] `;
    case 'reason':
      return `reason (enter rejects, esc goes back): ${prompt.typed}`;
    case 'rework':
      return 'send it back to coder with that reason (r), or reject the run (n)? ';
    case 'tokens':
      return `new cap in tokens, absolute, say 300k (enter approves, esc goes back): ${prompt.typed}`;
    case 'usd':
      return `new cap in dollars, absolute, say 2.50 (enter approves, esc goes back): ${prompt.typed}`;
    case 'despite-verify':
      return `verify did not pass; type yes to approve all the same (esc goes back): ${prompt.typed}`;
  }
}

const HELP =
  'y approve · n reject with a reason · d show the diff · e change the cap of a budget · s skip · q quit, all stays pending';

function choose(state: ReviewState, letter: string): ReviewStep {
  const cap = capOf(state.checkpoint);
  if (letter === 'y') return cap === undefined ? { state, command: { kind: 'approve' } } : ask(state, cap);
  if (letter === 'n') return ask(state, { kind: 'reason', typed: '' });
  if (letter === 'd') return { state, command: { kind: 'show-diff' } };
  if (letter === 's') return { state, command: { kind: 'skip' } };
  if (letter === 'q') return { state, command: { kind: 'quit' } };
  if (letter === 'e' && cap !== undefined) return ask(state, cap);
  if (letter === 'e') return hint(state, 'e changes the cap of a budget checkpoint; this one has none');
  return hint(state, HELP);
}

/** The question for a new cap; undefined where there is none to raise. */
function capOf({ kind, payload }: Checkpoint): Prompt | undefined {
  if (kind !== 'budget' || payload['scope'] === null || payload['unpriced'] === true) return undefined;
  return { kind: payload['unit'] === 'usd' ? 'usd' : 'tokens', typed: '' };
}

function acceptReason(state: ReviewState, reason: string): ReviewStep {
  if (reason === '') return hint(state, 'a rejection needs a reason: the agent reads it');
  if (state.checkpoint.kind === 'merge') return ask(state, { kind: 'rework', reason });
  return { state, command: { kind: 'reject', reason, rework: false } };
}

function chooseRework(state: ReviewState, reason: string, letter: string): ReviewStep {
  if (letter === 'r') return { state, command: { kind: 'reject', reason, rework: true } };
  if (letter === 'n') return { state, command: { kind: 'reject', reason, rework: false } };
  return hint(state, 'r sends it back to coder, n rejects the run, esc goes back');
}

function acceptAmount(state: ReviewState, unit: 'tokens' | 'usd', typed: string): ReviewStep {
  const shown = typed === '' ? 'nothing' : typed;
  switch (unit) {
    case 'tokens': {
      const tokens = parseTokenCount(typed);
      if (tokens === undefined) return hint(state, `${shown} is not a number of tokens: 300000, 300k or 2M`);
      return { state, command: { kind: 'approve', tokens } };
    }
    case 'usd': {
      const usd = parseDollars(typed);
      if (usd === undefined) return hint(state, `${shown} is not an amount in dollars: 5 or 2.50`);
      return { state, command: { kind: 'approve', usd } };
    }
  }
}

function acceptDespite(state: ReviewState, typed: string): ReviewStep {
  if (typed.trim() !== 'yes') return hint(state, 'only the word yes approves; esc goes back');
  return { state, command: { kind: 'approve', despiteVerify: true } };
}

function edit(typed: string, key: Key): string {
  if (key.kind === 'character') return typed + key.text;
  return key.kind === 'backspace' ? Array.from(typed).slice(0, -1).join('') : typed;
}

function ask(state: ReviewState, prompt: Prompt): ReviewStep {
  return { state: { checkpoint: state.checkpoint, prompt } };
}

function hint(state: ReviewState, text: string): ReviewStep {
  return { state: { ...state, hint: text } };
}
