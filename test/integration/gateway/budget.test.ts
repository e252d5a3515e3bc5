import { afterEach, expect, test } from 'vitest';
import type { AgentId, RoleName } from '../../../src/domain/ids.ts';
import { readReport } from '../../../src/report/read-report.ts';
import { ANTHROPIC_ANSWER, json, type Reply } from './fake-upstream.ts';
import { balance, grantFor, type Harness, MESSAGES, post, settled, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});
const SCOPE = 'task:r-1/T1/coder';
const AGENT = 'r-1/T1/coder#1' as AgentId;
/** What the first call reserves for its input: bytes ÷ 2.5. */
const INPUT = Math.ceil(Buffer.byteLength(JSON.stringify({ ...MESSAGES, max_tokens: 4000 })) / 2.5);
const asking = { ...MESSAGES, max_tokens: 4000 };

async function started(limit: number, replyOf: (n: number) => Reply = () => json(200, ANTHROPIC_ANSWER)) {
  const running = await startHarness(replyOf);
  harness = running;
  return { running, key: running.gateway.issue(grantFor({ limit })) };
}
const capSent = (running: Harness, n: number) =>
  JSON.parse(String(running.upstream.seen[n]?.body)).max_tokens as number;

test('clamp, refuse, raise, go on', async () => {
  const { running, key } = await started(INPUT + 2000);
  const { gateway } = running;
  expect((await post(gateway, '/v1/messages', asking, { key })).status).toBe(200);
  expect(capSent(running, 0)).toBe(2000);
  expect(gateway.refusal(AGENT)).toBeUndefined();

  const used = balance(running.store, SCOPE).spent;
  expect(used).toBe(560);
  const second = await post(gateway, '/v1/messages', { ...asking, max_tokens: 9000 }, { key });
  expect(second).toMatchObject({ status: 200 });
  expect(capSent(running, 1)).toBeLessThan(2000);

  const spent = balance(running.store, SCOPE).spent;
  const third = await post(gateway, '/v1/messages', asking, { key });
  expect(third).toMatchObject({ status: 402, headers: { 'x-should-retry': 'false' } });
  const { error, type } = JSON.parse(third.text);
  expect({ type, error }).toMatchObject({
    type: 'error',
    error: { type: 'billing_error', code: 'insufficient_quota' },
  });
  expect(error.message).toMatch(/role coder: task T1 of role coder .* used 1,120 .*orchestrator approve/s);
  expect(gateway.refusal(AGENT)).toMatchObject({ scope: SCOPE, used: spent, held: 0, limit: INPUT + 2000 });
  expect(running.upstream.seen).toHaveLength(2);
  expect(running.events.at(-1)).toMatchObject({ type: 'budget-refused', role: 'coder', data: { scope: SCOPE } });

  await gateway.raise({ id: SCOPE }, 50_000);
  expect((await post(gateway, '/v1/messages', asking, { key })).status).toBe(200);
  expect(capSent(running, 2)).toBe(4000);
  expect(gateway.refusal(AGENT)).toBeUndefined();
  expect(balance(running.store, SCOPE)).toEqual({ spent: 1680, held: 0 });
});

test('each protocol gets the refusal on which its clients stop', async () => {
  const { running, key } = await started(0);
  const statusOf = async (path: string) =>
    (await post(running.gateway, path, { ...MESSAGES, input: 'x', stream: true }, { key })).status;
  expect(await statusOf('/v1/messages')).toBe(402);
  expect(await statusOf('/v1/chat/completions')).toBe(402);
  expect(await statusOf('/v1/responses')).toBe(400);
  expect(running.upstream.seen).toEqual([]);
  expect(readReport(running.store, { by: 'role' }).rows).toEqual([]);
});

test('the cap is never clamped below the thinking budget and what must follow it', async () => {
  const { running, key } = await started(INPUT + 5000);
  const thinking = { ...asking, max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 10_000 } };
  expect((await post(running.gateway, '/v1/messages', thinking, { key })).status).toBe(402);
  const modest = { ...asking, max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 2048 } };
  expect((await post(running.gateway, '/v1/messages', modest, { key })).status).toBe(200);
  expect(capSent(running, 0)).toBeGreaterThanOrEqual(2048 + 1024);
});

test('a call that only reservations of others block waits for them', async () => {
  const gate = Promise.withResolvers<void>();
  const { running, key } = await started(INPUT + 4500, (n) => async (response, seen) => {
    if (n === 0) await gate.promise;
    await json(200, ANTHROPIC_ANSWER)(response, seen);
  });
  const first = post(running.gateway, '/v1/messages', asking, { key });
  for (let n = 0; n < 200 && running.upstream.seen.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
  const second = post(running.gateway, '/v1/messages', { ...asking, max_tokens: 3000 }, { key });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(running.upstream.seen).toHaveLength(1);
  gate.resolve();
  expect((await first).status).toBe(200);
  expect((await second).status).toBe(200);
  expect(capSent(running, 1)).toBe(3000);
});

test('64 calls of one role at once: all that has room is sent, none is clamped, the cap holds', async () => {
  const each = INPUT + 4000;
  const { running, key } = await started(40 * each);
  const calls = Array.from({ length: 64 }, () => post(running.gateway, '/v1/messages', asking, { key }));
  const answers = await Promise.all(calls);
  await settled(running);
  // Settled calls make room for those that waited: all 64 fit in the end.
  expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 64 }, () => 200));
  const caps = running.upstream.seen.map((_, n) => capSent(running, n));
  expect(caps).toEqual(Array.from({ length: 64 }, () => 4000));
  expect(balance(running.store, SCOPE)).toEqual({ spent: 64 * 560, held: 0 });
});

test('a waiting call ends with its key, and with a raise it goes on', async () => {
  const gate = Promise.withResolvers<void>();
  const { running, key } = await started(INPUT + 4500, () => async (response, seen) => {
    await gate.promise;
    await json(200, ANTHROPIC_ANSWER)(response, seen);
  });
  const grant = grantFor({ limit: INPUT + 4500, agent: 'r-1/T1/coder#2' as AgentId });
  const other = running.gateway.issue(grant);
  const calls = [post(running.gateway, '/v1/messages', asking, { key })];
  for (let n = 0; n < 200 && running.upstream.seen.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
  const waiting = post(running.gateway, '/v1/messages', asking, { key: other });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await running.gateway.revoke(grant.agent);
  expect(await waiting).toMatchObject({ status: 503, text: expect.stringMatching(/revoked/) });

  calls.push(post(running.gateway, '/v1/messages', asking, { key }));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(running.upstream.seen).toHaveLength(1);
  await running.gateway.raise({ id: SCOPE }, 100_000);
  for (let n = 0; n < 200 && running.upstream.seen.length < 2; n++) await new Promise((r) => setTimeout(r, 10));
  expect(running.upstream.seen).toHaveLength(2);
  gate.resolve();
  expect((await Promise.all(calls)).map((answer) => answer.status)).toEqual([200, 200]);
});

test('later calls of a conversation are estimated from the last actual', async () => {
  const usage = { input_tokens: 40, cache_read_input_tokens: 9000, output_tokens: 5 };
  const { running, key } = await started(1_000_000, () => json(200, { ...ANTHROPIC_ANSWER, usage }));
  const more = { ...asking, messages: [...asking.messages, { role: 'user', content: 'x'.repeat(2200 - 28) }] };
  for (const body of [asking, more]) await post(running.gateway, '/v1/messages', body, { key });
  const inputs = running.events.filter((event) => event.type === 'call-reserved').map((event) => event.data['input']);
  expect(inputs[0]).toBe(INPUT);
  expect(inputs[1]).toBeGreaterThanOrEqual(40 + 900 + 1000);
  expect(inputs[1]).toBeLessThan(40 + 900 + 1000 + 30);
});

test('at most max_in_flight_per_key calls of one real key run at once', async () => {
  let running = 0;
  let most = 0;
  harness = await startHarness(
    () => async (response, seen) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 30));
      running--;
      await json(200, ANTHROPIC_ANSWER)(response, seen);
    },
    { maxInFlightPerKey: 2 },
  );
  const roles = ['coder', 'test', 'planner'].map((role) => role as RoleName);
  const keys = roles.map((role) => harness?.gateway.issue(grantFor({ role })) ?? '');
  const calls = Array.from({ length: 12 }, (_, n) =>
    post((harness as Harness).gateway, '/v1/messages', MESSAGES, { key: keys[n % 3] ?? '' }),
  );
  expect((await Promise.all(calls)).every((answer) => answer.status === 200)).toBe(true);
  expect(most).toBe(2);
});

test('the day is that of the latest time seen and never goes back', async () => {
  let now = Date.UTC(2026, 10, 30, 23, 59);
  harness = await startHarness(() => json(200, ANTHROPIC_ANSWER), { clock: { now: () => now } });
  const key = harness.gateway.issue(grantFor());
  for (const at of [now, now + 120_000, now - 172_800_000]) {
    now = at;
    await post(harness.gateway, '/v1/messages', MESSAGES, { key });
  }
  await settled(harness);
  const days = readReport(harness.store, { by: 'day' }).rows.map((row) => [row.key, row.requests]);
  expect(days).toEqual([
    ['2026-11-30', 1],
    ['2026-12-01', 2],
  ]);
  expect(harness.store.read('ledger-day-get')).toEqual([{ value: '2026-12-01' }]);
  expect(balance(harness.store, 'day:2026-12-01').spent).toBe(1120);
});
