import { afterEach, expect, test } from 'vitest';
import { ANTHROPIC_ANSWER, json } from './fake-upstream.ts';
import { balance, grantFor, type Harness, MESSAGES, post, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const SCOPE = 'run:r-1';

/** A grant whose cap is what the policies say at the moment, as after `policy reload`. */
async function started(first: number, replyOf = () => json(200, ANTHROPIC_ANSWER)) {
  const running = await startHarness(replyOf);
  harness = running;
  const policy: { cap: number | 'unlimited' } = { cap: first };
  const scopes = () => [{ id: SCOPE, limit: policy.cap, label: 'run r-1' }];
  const key = running.gateway.issue(grantFor({ scopes }));
  const ask = async () => (await post(running.gateway, '/v1/messages', MESSAGES, { key })).status;
  return { running, policy, ask };
}

test('a cap that the policies change counts for a scope that is in use', async () => {
  const { running, policy, ask } = await started(2000);
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 402]);
  policy.cap = 4000;
  expect(await ask()).toBe(200);
  policy.cap = 1000;
  expect(await ask()).toBe(402);
  expect(running.store.read('budget-get', { scope: SCOPE })).toMatchObject([{ cap_milli: 4_000_000 }]);
  policy.cap = 'unlimited';
  expect(await ask()).toBe(200);
});

test('what a human approved stays the least, until the policies say more', async () => {
  const { running, policy, ask } = await started(100);
  expect(await ask()).toBe(402);
  await running.gateway.raise({ id: SCOPE }, 3000);
  expect(await ask()).toBe(200);
  policy.cap = 50;
  expect(await ask()).toBe(200);
  policy.cap = 5000;
  expect(await ask()).toBe(200);
  expect(running.store.read('budget-get', { scope: SCOPE })).toMatchObject([
    { cap_milli: 5_000_000, raised_milli: 3_000_000 },
  ]);
  policy.cap = 50;
  await ask();
  await ask();
  expect(await ask()).toBe(402);
  expect(balance(running.store, SCOPE).spent).toBeLessThanOrEqual(3000);
});

test('a call that waits for room looks again when the policies were read anew', async () => {
  const gate = Promise.withResolvers<void>();
  const { running, policy, ask } = await started(1000, () => async (response, seen) => {
    await gate.promise;
    await json(200, ANTHROPIC_ANSWER)(response, seen);
  });
  const calls = [ask(), ask()];
  for (let n = 0; n < 200 && running.upstream.seen.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(running.upstream.seen).toHaveLength(1);
  policy.cap = 10_000;
  running.gateway.recheck();
  for (let n = 0; n < 200 && running.upstream.seen.length < 2; n++) await new Promise((r) => setTimeout(r, 10));
  expect(running.upstream.seen).toHaveLength(2);
  gate.resolve();
  expect(await Promise.all(calls)).toEqual([200, 200]);
});
