import { asObject, asText, parseObject } from './json.ts';

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: number;
  readonly jitter: 'full' | 'none';
  readonly respectRetryAfter: boolean;
}

/** Why an attempt may be repeated: the upstream answered that it can't now, or there was no connection. */
export interface Failure {
  /** Undefined when no answer came. */
  readonly status: number | undefined;
  readonly isOutOfMoney: boolean;
  readonly shouldRetry: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** Milliseconds to wait before the next attempt; undefined to give up. `chance` is in [0, 1). */
export function retryDelay(options: {
  failure: Failure;
  /** Attempts made so far. */
  attempt: number;
  policy: RetryPolicy;
  chance: number;
}): number | undefined {
  const { failure, attempt, policy } = options;
  if (attempt >= policy.maxAttempts || failure.isOutOfMoney || failure.shouldRetry === 'false') return undefined;
  if (failure.status !== undefined && failure.status !== 429 && failure.status < 500) return undefined;
  if (policy.respectRetryAfter && failure.retryAfterMs !== undefined) {
    return failure.retryAfterMs <= MAX_WAIT_MS ? failure.retryAfterMs : undefined;
  }
  const ceiling = Math.min(MAX_WAIT_MS, BASE_MS * policy.backoff ** attempt);
  return policy.jitter === 'full' ? ceiling * options.chance : ceiling;
}

/**
 * How long every call of the key has to wait after this failure; undefined when it says nothing about the others. The
 * last attempt of one call counts as well: it was limited like the others.
 */
export function cooldownMs(options: Parameters<typeof retryDelay>[0]): number | undefined {
  if (options.failure.status !== 429) return undefined;
  return retryDelay({ ...options, attempt: Math.min(options.attempt, options.policy.maxAttempts - 1) });
}

/** The wait that an answer asks for: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(headers: Readonly<Record<string, unknown>>, nowMs: number): number | undefined {
  const millis = Number(asText(headers['retry-after-ms']) ?? Number.NaN);
  if (Number.isFinite(millis) && millis >= 0) return millis;
  const text = asText(headers['retry-after']);
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** A 429 that means an empty account rather than a rate. */
export function isOutOfMoney(body: string): boolean {
  const error = asObject(parseObject(body)?.['error']);
  const names = [asText(error?.['code']), asText(error?.['type'])];
  if (names.some((name) => name !== undefined && MONEY.has(name))) return true;
  return /credit balance|exceeded your current quota/i.test(asText(error?.['message']) ?? '');
}

const BASE_MS = 500;
/** Longer than this nobody waits for an upstream's next chance. */
export const MAX_WAIT_MS = 60_000;
const MONEY: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_error',
  'billing_hard_limit_reached',
  'billing_not_active',
  'usage_limit_reached',
  'insufficient_user_quota',
]);
