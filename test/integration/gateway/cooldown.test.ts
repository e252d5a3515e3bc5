import { afterEach, expect, test } from 'vitest';
import type { RoleName } from '../../../src/domain/ids.ts';
import { ANTHROPIC_ANSWER, json } from './fake-upstream.ts';
import { grantFor, type Harness, MESSAGES, post, settled, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

/** When each request came, and a 429 for the first `limitedMs` after the first of them (told a little later). */
async function limitedFor(limitedMs: number, options: { headers?: Record<string, string>; inFlight: number }) {
  const cameAt: number[] = [];
  const running = await startHarness(
    () => async (response, seen) => {
      const now = performance.now();
      cameAt.push(now);
      const isLimited = now - (cameAt[0] ?? now) < limitedMs;
      if (isLimited) await new Promise((resolve) => setTimeout(resolve, TELL_MS));
      const limited = json(429, { error: { message: 'slow down' } }, options.headers);
      await (isLimited ? limited : json(200, ANTHROPIC_ANSWER))(response, seen);
    },
    {
      maxInFlightPerKey: options.inFlight,
      retry: { maxAttempts: 3, backoff: 1.8, jitter: 'full', respectRetryAfter: true },
    },
  );
  harness = running;
  return { running, cameAt };
}

/** Long enough for all that is in flight to be on its way before the first learns of the limit. */
const TELL_MS = 250;

test.each([16, 4])(
  '16 callers of one key wait together for Retry-After, %i in flight',
  async (inFlight) => {
    const { running, cameAt } = await limitedFor(1000, { headers: { 'retry-after': '1' }, inFlight });
    const keys = ['coder', 'test', 'reviewer', 'planner'].map((role) =>
      running.gateway.issue(grantFor({ role: role as RoleName })),
    );
    const calls = Array.from({ length: 16 }, (_, n) =>
      post(running.gateway, '/v1/messages', MESSAGES, { key: keys[n % 4] ?? '' }),
    );
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
    const first = cameAt[0] ?? 0;
    const early = cameAt.filter((at) => at - first < 1000);
    const later = cameAt.filter((at) => at - first >= 1000);
    // Nobody who could know of the limit has sent anything before it was over.
    expect(early).toHaveLength(inFlight);
    expect(Math.max(...early) - first).toBeLessThan(500);
    expect(later).toHaveLength(16);
    for (const [n, at] of later.entries()) if (n > 0) expect(at - (later[n - 1] ?? 0)).toBeGreaterThan(20);
    await settled(running);
    const attempts = running.events.filter(({ type }) => type === 'call-retried').map(({ data }) => data['attempt']);
    expect(attempts).toEqual(Array.from({ length: inFlight }, () => 1));
  },
  30_000,
);

test('another key does not wait', async () => {
  const { running, cameAt } = await limitedFor(300, { headers: { 'retry-after': '1' }, inFlight: 4 });
  const key = running.gateway.issue(grantFor());
  const other = running.gateway.issue(grantFor({ role: 'test' as RoleName, key: 'another-real-key-0123456789' }));
  const call = post(running.gateway, '/v1/messages', MESSAGES, { key });
  for (let n = 0; n < 200 && cameAt.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
  await new Promise((resolve) => setTimeout(resolve, 350 + TELL_MS));
  expect((await post(running.gateway, '/v1/messages', MESSAGES, { key: other })).status).toBe(200);
  expect(cameAt).toHaveLength(2);
  expect((await call).status).toBe(200);
});

test('a limit that never ends: each call gives up after its own attempts', async () => {
  const headers = { 'retry-after-ms': '60' };
  const { running, cameAt } = await limitedFor(Number.POSITIVE_INFINITY, { headers, inFlight: 4 });
  const key = running.gateway.issue(grantFor());
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => post(running.gateway, '/v1/messages', MESSAGES, { key })),
  );
  expect(answers.map(({ status }) => status)).toEqual([429, 429, 429, 429]);
  expect(answers[0]?.text).toMatch(/answered 429 \(tried 3 times\): slow down/);
  expect(cameAt).toHaveLength(12);
});

test('a call that waits for the cooldown ends with its key', async () => {
  const { running, cameAt } = await limitedFor(60_000, { headers: { 'retry-after': '30' }, inFlight: 4 });
  const grant = grantFor();
  const call = post(running.gateway, '/v1/messages', MESSAGES, { key: running.gateway.issue(grant) });
  for (let n = 0; n < 200 && cameAt.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
  await new Promise((resolve) => setTimeout(resolve, TELL_MS + 100));
  await running.gateway.revoke(grant.agent);
  expect((await call).status).toBe(503);
  expect(cameAt).toHaveLength(1);
});
