import { expect, test } from 'vitest';
import { redact } from '../../../src/gateway/redact.ts';
import { type Failure, isOutOfMoney, type RetryPolicy, retryAfterMs, retryDelay } from '../../../src/gateway/retry.ts';

const policy: RetryPolicy = { maxAttempts: 3, backoff: 2, jitter: 'full', respectRetryAfter: true };
const failure: Failure = { status: 503, isOutOfMoney: false, shouldRetry: undefined, retryAfterMs: undefined };
const delayOf = (changes: Partial<Failure>, attempt = 1, chance = 0.5) =>
  retryDelay({ failure: { ...failure, ...changes }, attempt, policy, chance });

test('waits a random part of a growing time', () => {
  expect(delayOf({}, 1)).toBe(500);
  expect(delayOf({}, 2)).toBe(1000);
  expect(delayOf({}, 1, 0)).toBe(0);
  expect(retryDelay({ failure, attempt: 1, policy: { ...policy, jitter: 'none' }, chance: 0 })).toBe(1000);
});

test('gives up after the last attempt and where repeating is no use', () => {
  expect(delayOf({}, 3)).toBeUndefined();
  expect(delayOf({ status: 400 })).toBeUndefined();
  expect(delayOf({ status: 429, isOutOfMoney: true })).toBeUndefined();
  expect(delayOf({ shouldRetry: 'false' })).toBeUndefined();
  expect(delayOf({ status: 429 })).toBe(500);
  expect(delayOf({ status: undefined })).toBe(500);
});

test('a stated wait is kept up to a minute, a longer one is not waited for', () => {
  expect(delayOf({ retryAfterMs: 60_000 })).toBe(60_000);
  expect(delayOf({ retryAfterMs: 60_001 })).toBeUndefined();
  const deaf = { ...policy, respectRetryAfter: false };
  expect(retryDelay({ failure: { ...failure, retryAfterMs: 9e9 }, attempt: 1, policy: deaf, chance: 0.5 })).toBe(500);
});

test('the stated wait in its three forms', () => {
  expect(retryAfterMs({ 'retry-after-ms': '250' }, 0)).toBe(250);
  expect(retryAfterMs({ 'retry-after': '2' }, 0)).toBe(2000);
  expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 4000)).toBe(5000);
  expect(retryAfterMs({ 'retry-after': 'soon' }, 0)).toBeUndefined();
  expect(retryAfterMs({}, 0)).toBeUndefined();
});

test('an empty account is told from a rate', () => {
  expect(isOutOfMoney('{"error":{"code":"insufficient_quota"}}')).toBe(true);
  expect(isOutOfMoney('{"type":"error","error":{"type":"billing_error"}}')).toBe(true);
  expect(isOutOfMoney('{"error":{"message":"Your credit balance is too low"}}')).toBe(true);
  expect(isOutOfMoney('{"error":{"type":"rate_limit_error"}}')).toBe(false);
  expect(isOutOfMoney('busy')).toBe(false);
});

test('keys are taken out of texts, words are left', () => {
  const key = 'real-key-of-the-coder-1234';
  expect(redact(`bad key ${key}, ${key}!`, [key, 'short'])).toBe('bad key [key …1234], [key …1234]!');
  expect(redact('Authorization: Bearer abcdefghijklmnopqrstuvwx', [])).toBe('Authorization: Bearer [redacted]');
  expect(redact('used sk-abcdefghijklmnop1234 and short', ['short'])).toBe('used sk-[redacted] and short');
});
