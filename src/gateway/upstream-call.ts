import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/ids.ts';
import { type Answer, upstreamAnswer, upstreamOutOfMoney } from './answers.ts';
import { type AttemptRequest, type AttemptResult, sendAttempt } from './attempt.ts';
import { asObject, asText, parseObject } from './json.ts';
import type { KeyPace, Turn } from './key-pace.ts';
import { cooldownMs, type Failure, isOutOfMoney, type RetryPolicy, retryAfterMs, retryDelay } from './retry.ts';
import type { AttemptRecord } from './settlement.ts';

export interface UpstreamResult {
  readonly outcome: UpstreamOutcome;
  readonly attempts: readonly AttemptRecord[];
  /** Attempts that were sent, broke at once and were repeated. */
  readonly lost: number;
}

type UpstreamOutcome =
  | {
      readonly kind: 'success';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Readable;
    }
  /** The upstream refuses this request; its own words are passed on. */
  | { readonly kind: 'refused'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }
  | { readonly kind: 'failed'; readonly answer: Answer; readonly mayHaveWorked: boolean }
  | { readonly kind: 'aborted'; readonly mayHaveWorked: boolean };

export interface UpstreamParts {
  readonly dispatcher: Dispatcher;
  readonly retry: RetryPolicy;
  readonly pace: KeyPace;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly chance: () => number;
}

/**
 * Sends a call, repeating it while that is safe and allowed. Never repeats after the first byte of an answer, and never
 * an attempt that may have been worked on. `onRetry` is awaited before the next attempt. Every attempt waits for the
 * turn of its key.
 */
export async function callUpstream(
  parts: UpstreamParts,
  request: AttemptRequest,
  options: { key: string; signal: AbortSignal; onRetry: (attempt: AttemptRecord) => Promise<void> },
): Promise<UpstreamResult> {
  const attempts: AttemptRecord[] = [];
  let lost = 0;
  for (;;) {
    const turn = await parts.pace.turn(options.key, options.signal);
    if (turn !== 'send') return { outcome: unsent(turn, request), attempts, lost };
    const result = await sendAttempt(parts.dispatcher, request, options.signal);
    const read = await readFailure(result, parts.clock.now());
    const record = recordOf(result, attempts.length + 1, parts.clock.now());
    attempts.push(record);
    if (read.kind === 'final') return { outcome: outcomeOf(result, read.text, request), attempts, lost };

    const { retry: policy, chance } = parts;
    const failed = { failure: read.failure, attempt: attempts.length, policy, chance: chance() };
    const waitMs = retryDelay(failed);
    const cooling = cooldownMs(failed);
    if (cooling !== undefined) parts.pace.cool(options.key, cooling);
    if (result.kind === 'lost') lost++;
    if (waitMs === undefined) {
      const answer = explain({ result, failure: read.failure, text: read.text, request, attempts: attempts.length });
      return { outcome: { kind: 'failed', answer, mayHaveWorked: false }, attempts, lost };
    }
    await options.onRetry(record);
    if (cooling === undefined) await delay(waitMs, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

function unsent(turn: Exclude<Turn, 'send'>, request: AttemptRequest): UpstreamOutcome {
  switch (turn) {
    case 'aborted':
      return { kind: 'aborted', mayHaveWorked: false };
    case 'too-long': {
      const message = `The model endpoint ${shownUrl(request.url)} keeps limiting this role's key (429); the call waited its turn in vain. Lower gateway.max_in_flight_per_key or workspace.slots, or raise the limit at the provider.`;
      return { kind: 'failed', answer: upstreamAnswer(429, message), mayHaveWorked: false };
    }
  }
}

type Reading =
  | { readonly kind: 'final'; readonly text: string }
  | { readonly kind: 'repeatable'; readonly failure: Failure; readonly text: string };

async function readFailure(result: AttemptResult, nowMs: number): Promise<Reading> {
  switch (result.kind) {
    case 'aborted':
    case 'timeout':
      return { kind: 'final', text: '' };
    case 'not-sent':
      return { kind: 'repeatable', failure: NO_ANSWER, text: result.message };
    case 'lost':
      if (!result.isQuick) return { kind: 'final', text: result.message };
      return { kind: 'repeatable', failure: NO_ANSWER, text: result.message };
    case 'answered': {
      if (result.status >= 200 && result.status < 300) return { kind: 'final', text: '' };
      const text = await readText(result.body);
      if (result.status !== 429 && result.status < 500) return { kind: 'final', text };
      const failure = {
        status: result.status,
        isOutOfMoney: result.status === 429 && isOutOfMoney(text),
        shouldRetry: asText(result.headers['x-should-retry']),
        retryAfterMs: retryAfterMs(result.headers, nowMs),
      };
      return { kind: 'repeatable', failure, text };
    }
  }
}

const NO_ANSWER: Failure = {
  status: undefined,
  isOutOfMoney: false,
  shouldRetry: undefined,
  retryAfterMs: undefined,
};

function outcomeOf(result: AttemptResult, text: string, request: AttemptRequest): UpstreamOutcome {
  const url = shownUrl(request.url);
  switch (result.kind) {
    case 'aborted':
      return { kind: 'aborted', mayHaveWorked: true };
    case 'timeout': {
      const message = `The model endpoint ${url} gave no answer within ${request.timeoutMs / 1000} s (gateway.request_timeout).`;
      return { kind: 'failed', answer: upstreamAnswer(504, message), mayHaveWorked: true };
    }
    case 'lost':
    case 'not-sent': {
      const message = `The connection to the model endpoint ${url} broke before an answer came: ${text}.`;
      return { kind: 'failed', answer: upstreamAnswer(502, message), mayHaveWorked: true };
    }
    case 'answered': {
      const { status, headers, body } = result;
      if (status >= 200 && status < 300) return { kind: 'success', status, headers, body };
      if (status >= 400) return { kind: 'refused', status, headers, text };
      const message = `The model endpoint ${url} answered ${status} (a redirect): is the base URL right?`;
      return { kind: 'failed', answer: upstreamAnswer(502, message), mayHaveWorked: false };
    }
  }
}

function explain(options: {
  result: AttemptResult;
  failure: Failure;
  text: string;
  request: AttemptRequest;
  attempts: number;
}): Answer {
  const { failure, attempts } = options;
  const url = shownUrl(options.request.url);
  const words = upstreamWords(options.text);
  if (failure.isOutOfMoney) {
    return upstreamOutOfMoney(`The account of this role's key at ${url} is out of money or quota: ${words}`);
  }
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  if (failure.status === undefined) {
    const message = `The model endpoint ${url} could not be reached (tried ${times}): ${words}. Check gateway.base_url and the network.`;
    return upstreamAnswer(502, message);
  }
  return upstreamAnswer(
    failure.status,
    `The model endpoint ${url} answered ${failure.status} (tried ${times}): ${words}`,
  );
}

/** The upstream's own message, short. */
export function upstreamWords(text: string): string {
  const message = asText(asObject(parseObject(text)?.['error'])?.['message']) ?? text;
  return message.trim().slice(0, 300) || '(no message)';
}

function shownUrl(url: URL): string {
  return url.origin + url.pathname;
}

function recordOf(result: AttemptResult, n: number, at: number): AttemptRecord {
  if (result.kind === 'answered') return { n, status: result.status, outcome: 'answered', at };
  return { n, status: undefined, outcome: result.kind, at };
}

/** An error body, as far as it comes; a broken one is still an answer. */
export async function readText(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_ERROR_BYTES) break;
    }
  } catch {
    // What came before the break is kept.
  }
  return Buffer.concat(chunks).toString('utf8');
}

const MAX_ERROR_BYTES = 256 * 1024;
