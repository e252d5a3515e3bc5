import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RoleName } from '../../../src/domain/ids.ts';
import { NO_USAGE } from '../../../src/domain/usage.ts';
import { admissionWrites, createAdmissions } from '../../../src/gateway/admission.ts';
import { createDayWindow } from '../../../src/gateway/day-window.ts';
import { createJournal } from '../../../src/gateway/journal.ts';
import type { OpenCall } from '../../../src/gateway/open-call.ts';
import { recoverCalls } from '../../../src/gateway/recover-calls.ts';
import { createSettlements } from '../../../src/gateway/settlement.ts';
import { readReport } from '../../../src/report/read-report.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { balance, grantFor } from './harness.ts';

let directory: string;
let store: Store;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'orch-ledger-'));
  store = await openSqliteStore({ path: join(directory, 'state.db'), nowMs: 1 });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const clock = { now: () => Date.UTC(2026, 10, 30) };
const CAP = 12_000;
const scopes = () => [{ id: 'run:r-1', limit: CAP, label: 'run r-1' }];

/**
 * 200 calls of 200 roles at once on one budget; gives the most that was ever spent and held together. Each of `doors`
 * knows only its own calls, as processes would: then nothing but the guards in the batches stands before the cap.
 */
async function storm(ledger: Store, doors: number): Promise<{ most: number; admitted: number; refused: number }> {
  const journal = createJournal(ledger, () => undefined);
  const days = createDayWindow(ledger, clock);
  const open = () => createAdmissions({ store: ledger, journal, clock, days });
  const admissions = Array.from({ length: doors }, open);
  const log = { info: () => undefined, warn: () => undefined };
  const onSettled = () => {
    for (const one of admissions) one.changed();
  };
  const settlements = createSettlements({ journal, clock, prices: () => undefined, log, onSettled });
  let most = 0;
  let admitted = 0;
  const look = () => {
    const rows = ledger.read('calls-unsettled');
    const { spent } = balance(ledger, 'run:r-1');
    const inFlight = rows.reduce((sum, row) => sum + Number(row['reserved_milli']), 0) / 1000;
    most = Math.max(most, spent + inFlight);
  };
  async function call(n: number): Promise<'admitted' | 'refused'> {
    const grant = grantFor({ role: `role-${n}` as RoleName, scopes });
    const demand = { input: 100 + (n % 13) * 10, outputCap: 1024, minOutputCap: 1024, choices: 1 };
    const request = { id: `c${n}`, grant, protocol: grant.protocol, demand };
    const outcome = await admissions[n % doors]?.admit(request, new AbortController().signal);
    look();
    if (outcome?.kind !== 'admitted') return 'refused';
    admitted++;
    await new Promise((resolve) => setTimeout(resolve, n % 5));
    const output = n % 3 === 0 ? 1024 : (n * 37) % 900;
    const usage = { ...NO_USAGE, input: outcome.call.reserved.input, output };
    const spend = { source: 'upstream', usage, estimatedTokens: 0 } as const;
    const [first] = await Promise.all([1, 2].map(() => settlements.settle(outcome.call, spend, [])));
    expect(first).toBeUndefined();
    look();
    return 'admitted';
  }
  const results = await Promise.all(Array.from({ length: 200 }, (_, n) => call(n)));
  return { most, admitted, refused: results.filter((result) => result === 'refused').length };
}

test.each([1, 8])('200 calls at once through %i doors never pass the cap, and what is left is used', async (doors) => {
  const { most, admitted, refused } = await storm(store, doors);
  expect(most).toBeLessThanOrEqual(CAP);
  const { spent, held } = balance(store, 'run:r-1');
  expect(held).toBe(0);
  expect(spent).toBeLessThanOrEqual(CAP);
  expect(spent).toBeGreaterThan(CAP - 1400);
  expect(admitted + refused).toBe(200);
  expect(readReport(store, { by: 'run' }).total.workTokens).toBe(spent);
});

test('the same storm without the guards passes the cap: the test can see it', async () => {
  const naive: Store = {
    ...store,
    write: (batch) => store.write(batch.map(({ statement, params }) => ({ statement, params }))),
  };
  expect((await storm(naive, 8)).most).toBeGreaterThan(CAP);
});

test('after a crash what was sent is charged in full and what was not is released', async () => {
  const grant = grantFor({ scopes, model: 'claude-opus-4-5' });
  const open = (id: string): OpenCall => ({
    id,
    grant,
    protocol: 'anthropic',
    reserved: { input: 1000, output: 500 },
    reservedMilli: 1_500_000,
    holds: [{ scope: 'run:r-1', unit: 'tokens', amount: 1_500_000 }],
    outputCap: 500,
  });
  for (const id of ['waiting', 'flying']) {
    const writes = admissionWrites({ call: open(id), scopes: scopes(), day: '2026-11-30', at: 1 });
    expect(await store.write(writes)).toMatchObject({ committed: true });
  }
  await store.write([
    { statement: 'call-sent', params: { id: 'flying' } },
    { statement: 'call-attempt-insert', params: { call: 'flying', n: 1, status: 503, outcome: 'answered', at: 1 } },
  ]);
  expect(balance(store, 'run:r-1')).toEqual({ spent: 0, held: 3000 });
  await store.close();

  store = await openSqliteStore({ path: join(directory, 'state.db'), nowMs: 2 });
  const parts = { clock, prices: () => 42 };
  expect(await recoverCalls(store, parts)).toEqual({ released: 1, forfeit: 1 });
  expect(await recoverCalls(store, parts)).toEqual({ released: 0, forfeit: 0 });
  expect(balance(store, 'run:r-1')).toEqual({ spent: 1500, held: 0 });
  expect(readReport(store, { by: 'role' }).total).toMatchObject({
    requests: 1,
    input: 1000,
    output: 500,
    forfeit: 1500,
    workTokens: 1500,
    usd: 0.000042,
  });
});

test('a settlement that could not be written is written later, once', async () => {
  let isBroken = false;
  const flaky: Store = {
    ...store,
    write: (batch) => (isBroken ? Promise.reject(new Error('full')) : store.write(batch)),
  };
  const journal = createJournal(flaky, () => undefined);
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (_: object, message: string) => void warnings.push(message) };
  const settlements = createSettlements({ journal, clock, prices: () => undefined, log, onSettled: () => undefined });
  const admissions = createAdmissions({ store: flaky, journal, clock, days: createDayWindow(flaky, clock) });
  const demand = { input: 100, outputCap: 500, minOutputCap: 500, choices: 1 };
  const request = { id: 'c1', grant: grantFor({ scopes }), protocol: 'anthropic', demand } as const;
  const outcome = await admissions.admit(request, new AbortController().signal);
  if (outcome.kind !== 'admitted') throw new Error(outcome.kind);

  isBroken = true;
  const spend = { source: 'upstream', usage: { ...NO_USAGE, input: 7 }, estimatedTokens: 0 } as const;
  await settlements.settle(outcome.call, spend, []);
  expect(warnings).toHaveLength(1);
  await expect(settlements.flush()).rejects.toThrow('full');
  await expect(admissions.admit({ ...request, id: 'c2' }, new AbortController().signal)).rejects.toThrow('full');
  isBroken = false;
  await settlements.flush();
  await settlements.flush();
  expect(balance(store, 'run:r-1')).toEqual({ spent: 7, held: 0 });
});
