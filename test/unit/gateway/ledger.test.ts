import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Demand, decideAdmission, minOutputCap, type ScopeBalance } from '../../../src/gateway/ledger.ts';

const demand: Demand = { input: 10_000, outputCap: 8000, minOutputCap: 1024, choices: 1 };
function scope(cap: number | undefined, spent = 0, held = 0): ScopeBalance {
  const milli = cap === undefined ? undefined : cap * 1000;
  return { scope: 's', unit: 'tokens', label: 'a scope', cap: milli, spent: spent * 1000, held: held * 1000 };
}

test('admits in full when it fits in every scope', () => {
  expect(decideAdmission(demand, [scope(18_000), scope(undefined, 9e9)])).toEqual({
    kind: 'admit',
    outputCap: 8000,
    reservedMilli: 18_000_000,
  });
  expect(decideAdmission(demand, [])).toMatchObject({ kind: 'admit', outputCap: 8000 });
});

test('waits when only reservations of others are in the way', () => {
  expect(decideAdmission(demand, [scope(20_000, 1000, 15_000)])).toEqual({ kind: 'wait' });
});

test('clamps the cap to what is left, never below the minimum', () => {
  expect(decideAdmission(demand, [scope(50_000), scope(14_000, 500)])).toEqual({
    kind: 'admit',
    outputCap: 3500,
    reservedMilli: 13_500_000,
  });
  expect(decideAdmission(demand, [scope(11_024)])).toMatchObject({ kind: 'admit', outputCap: 1024 });
  expect(decideAdmission({ ...demand, choices: 2 }, [scope(14_001)])).toMatchObject({ outputCap: 2000 });
});

test('refuses with the numbers of the scope that has too little', () => {
  expect(decideAdmission(demand, [scope(undefined), scope(11_023, 23.5)])).toEqual({
    kind: 'refuse',
    refusal: { scope: 's', unit: 'tokens', label: 'a scope', used: 24, held: 0, limit: 11_023, needed: 11_024 },
  });
  expect(decideAdmission({ ...demand, input: 1 }, [scope(0)])).toMatchObject({ kind: 'refuse' });
});

test('waits for reservations before it refuses or clamps below the minimum', () => {
  expect(decideAdmission(demand, [scope(17_000, 0, 10_000)])).toEqual({ kind: 'wait' });
});

test('the smallest useful cap', () => {
  expect(minOutputCap(8000, 0)).toBe(1024);
  expect(minOutputCap(300, 0)).toBe(300);
  expect(minOutputCap(32_000, 10_000)).toBe(11_024);
});

test('an admitted reservation fits everywhere, and a wait needs something to wait for', () => {
  const balances = fc.array(
    fc.record({
      cap: fc.option(fc.integer({ min: 0, max: 1e8 }), { nil: undefined }),
      spent: fc.integer({ min: 0, max: 1e8 }),
      held: fc.integer({ min: 0, max: 1e8 }),
      scope: fc.constant('s'),
      unit: fc.constant('tokens' as const),
      label: fc.constant('l'),
    }),
    { maxLength: 5 },
  );
  const demands = fc
    .record({
      input: fc.nat(1e5),
      outputCap: fc.integer({ min: 1, max: 2 ** 31 }),
      choices: fc.integer({ min: 1, max: 4 }),
    })
    .map((sizes) => ({ ...sizes, minOutputCap: minOutputCap(sizes.outputCap, 0) }));
  fc.assert(
    fc.property(demands, balances, (wanted, scopes) => {
      const decision = decideAdmission(wanted, scopes);
      const total = (row: ScopeBalance) => row.spent + row.held;
      const fits = (milli: number) => scopes.every((row) => row.cap === undefined || total(row) + milli <= row.cap);
      switch (decision.kind) {
        case 'admit':
          expect(fits(decision.reservedMilli)).toBe(true);
          expect(decision.outputCap).toBeGreaterThanOrEqual(wanted.minOutputCap);
          expect(decision.outputCap).toBeLessThanOrEqual(wanted.outputCap);
          expect(decision.reservedMilli).toBe((wanted.input + decision.outputCap * wanted.choices) * 1000);
          return;
        case 'wait':
          expect(scopes.some((row) => row.held > 0)).toBe(true);
          return;
        case 'refuse':
          expect(fits((wanted.input + wanted.minOutputCap * wanted.choices) * 1000)).toBe(false);
      }
    }),
  );
});

describe('a limit in dollars', () => {
  /** Five millionths a token of input, 25 a token of output. */
  const priced: Demand = { ...demand, dearest: (output) => 10_000 * 5 + output * 25 };
  const money = (cap: number | undefined, spent = 0, held = 0): ScopeBalance => ({
    scope: 'usd-s',
    unit: 'usd',
    label: 'money',
    cap: cap === undefined ? undefined : cap * 1e6,
    spent: spent * 1e6,
    held: held * 1e6,
  });

  test('is decided together with the tokens, by the tighter one', () => {
    expect(decideAdmission(priced, [scope(50_000), money(0.25)])).toEqual({
      kind: 'admit',
      outputCap: 8000,
      reservedMilli: 18_000_000,
      reservedMicros: 250_000,
    });
    expect(decideAdmission(priced, [scope(50_000), money(0.1)])).toMatchObject({
      outputCap: 2000,
      reservedMicros: 1e5,
    });
    expect(decideAdmission(priced, [scope(11_500), money(0.1)])).toMatchObject({ outputCap: 1500 });
    expect(decideAdmission(priced, [scope(50_000), money(0.25, 0, 0.1)])).toEqual({ kind: 'wait' });
  });

  test('refuses in dollars', () => {
    expect(decideAdmission(priced, [scope(50_000), money(0.07, 0.01)])).toEqual({
      kind: 'refuse',
      refusal: { scope: 'usd-s', unit: 'usd', label: 'money', used: 0.01, held: 0, limit: 0.07, needed: 0.0756 },
    });
  });

  test('refuses an unknown price, and only where there is a limit', () => {
    const unknown: Demand = { ...demand, dearest: () => undefined };
    expect(decideAdmission(unknown, [scope(50_000)])).toMatchObject({ kind: 'admit' });
    expect(decideAdmission(unknown, [scope(50_000), money(undefined)])).toMatchObject({ kind: 'admit' });
    expect(decideAdmission(unknown, [scope(50_000), money(1e6)])).toMatchObject({
      kind: 'refuse',
      refusal: { scope: 'usd-s', isUnpriced: true, limit: 1e6 },
    });
  });
});
