import { afterEach, expect, test } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import type { BudgetScope } from '../../../src/gateway/gateway.ts';
import { recoverCalls } from '../../../src/gateway/recover-calls.ts';
import { readReport } from '../../../src/report/read-report.ts';
import { json, type Reply } from './fake-upstream.ts';
import { grantFor, type Harness, MESSAGES, post, settled, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const MODEL = 'claude-opus-4-5';
const MONEY = 'usd-task:r-1/T1/coder';
const AGENT = 'r-1/T1/coder#1' as AgentId;
const asking = { ...MESSAGES, model: MODEL, max_tokens: 4000 };
/** 5 dollars a million in, 25 out: half a cent and ten cents. */
const answer = json(200, { content: [], usage: { input_tokens: 1000, output_tokens: 4000 } });

async function started(limit: number | undefined, model = MODEL, reply: () => Reply = () => answer) {
  const running = await startHarness(reply);
  harness = running;
  const key = running.gateway.issue(grantFor({ model, scopes: () => scopesWith(limit) }));
  return { running, key };
}
function scopesWith(limit: number | undefined): BudgetScope[] {
  const tokens: BudgetScope = { id: 'task:r-1/T1/coder', limit: 1_000_000, label: 'task T1 of role coder' };
  return limit === undefined ? [tokens] : [tokens, { id: MONEY, unit: 'usd', limit, label: 'money of coder on T1' }];
}
function money({ store }: Harness): { spent: number; held: number } {
  const row = store.read('budget-get', { scope: MONEY })[0];
  return { spent: Number(row?.['spent_milli'] ?? 0) / 1e6, held: Number(row?.['held_milli'] ?? 0) / 1e6 };
}

test('dollars are reserved, settled with the real price, refused at the limit and raised', async () => {
  const { running, key } = await started(0.2);
  const ask = () => post(running.gateway, '/v1/messages', asking, { key });
  expect((await ask()).status).toBe(200);
  await settled(running);
  expect(money(running)).toEqual({ spent: 0.105, held: 0 });
  expect(readReport(running.store, { by: 'role' }).total.usd).toBe(0.105);

  // 0.095 are left, so the cap that is sent is smaller than what was asked for; the fake answers at length all the same.
  expect((await ask()).status).toBe(200);
  expect(JSON.parse(String(running.upstream.seen[1]?.body)).max_tokens).toBeLessThan(3800);
  await settled(running);
  const refused = await ask();
  expect(refused.status).toBe(402);
  expect(JSON.parse(refused.text).error.message).toMatch(
    /used \$0\.21 and reserved \$0\.00 of \$0\.20; .* at least \$0\.0/,
  );
  expect(running.gateway.refusal(AGENT)).toMatchObject({ scope: MONEY, unit: 'usd', limit: 0.2 });
  expect(running.upstream.seen).toHaveLength(2);

  await running.gateway.raise({ id: MONEY, unit: 'usd' }, 1);
  expect((await ask()).status).toBe(200);
  await settled(running);
  expect(money(running).spent).toBeCloseTo(0.315, 9);
});

test('calls at once never pass the limit', async () => {
  const { running, key } = await started(0.5);
  const calls = Array.from({ length: 12 }, () => post(running.gateway, '/v1/messages', asking, { key }));
  const answers = await Promise.all(calls);
  await settled(running);
  const passed = answers.filter(({ status }) => status === 200).length;
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(12 - passed);
  expect(passed).toBeGreaterThanOrEqual(4);
  expect(money(running).held).toBe(0);
  // Each cap that was sent fitted; the fake answers 4,000 tokens whatever the last cap was.
  expect(passed).toBeLessThanOrEqual(5);
});

test('an unknown price is refused under a limit, with words that say so, and passes without one', async () => {
  const { running, key } = await started(100, 'model-nobody-sells');
  const refused = await post(running.gateway, '/v1/messages', { ...asking, model: 'model-nobody-sells' }, { key });
  expect(refused.status).toBe(402);
  expect(refused.text).toMatch(/limit of \$100\.00, and nobody knows the price of the model model-nobody-sells/);
  expect(running.gateway.refusal(AGENT)).toMatchObject({ isUnpriced: true });
  expect(running.upstream.seen).toHaveLength(0);

  const free = running.gateway.issue(grantFor({ model: 'model-nobody-sells', scopes: () => scopesWith(undefined) }));
  const passed = await post(running.gateway, '/v1/messages', { ...asking, model: 'model-nobody-sells' }, { key: free });
  expect(passed.status).toBe(200);
});

test('a call in flight at a crash keeps its reservation in dollars', async () => {
  const { running, key } = await started(1, MODEL, () => () => undefined);
  const call = post(running.gateway, '/v1/messages', asking, { key }).catch(() => undefined);
  for (let n = 0; n < 500 && running.upstream.seen.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
  const { held } = money(running);
  expect(held).toBeGreaterThan(0.1);
  // The next daemon finds the row as it was left.
  await recoverCalls(running.store, { clock: { now: () => 1 }, prices: () => undefined });
  expect(money(running)).toEqual({ spent: held, held: 0 });
  await running.gateway.revoke(AGENT);
  await call;
  expect(money(running)).toEqual({ spent: held, held: 0 });
});
