import { expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/domain/usage.ts';
import { cataloguePrice, dearestPrice } from '../../../src/gateway/prices.ts';

const at = Date.UTC(2026, 0, 15);
const price = (model: string, usage: Partial<typeof NO_USAGE>, protocol: 'anthropic' | 'openai-chat' = 'anthropic') =>
  cataloguePrice({ model, protocol, usage: { ...NO_USAGE, ...usage }, at });

test('classes are priced apart and cache writes once', () => {
  // 5 / 6.25 / 25 dollars a million: 6, 159,217 and 2,745 tokens.
  expect(price('claude-opus-4-5', { input: 6, cacheWrite5m: 159_217, output: 2745 })).toBe(1_063_762);
  expect(price('claude-opus-4-5', { cacheRead: 1_000_000 })).toBe(500_000);
});

test('one-hour writes cost twice the input, stated or not', () => {
  expect(price('claude-opus-4-5', { cacheWrite1h: 1_000_000 })).toBe(10_000_000);
  expect(price('gpt-4o', { cacheWrite1h: 1000 }, 'openai-chat')).toBe(5000);
  expect(price('gpt-4o', { cacheWrite5m: 1000 }, 'openai-chat')).toBe(2500);
});

test('an unknown model has no price, not a price of nothing', () => {
  expect(price('model-nobody-sells', { input: 1000 })).toBeUndefined();
});

test('the most that a call can cost: one-hour writes for what may be anything, reads for what is surely cached', () => {
  const dearest = (model: string) =>
    dearestPrice(cataloguePrice, { model, protocol: 'anthropic', at, fresh: 1000, cached: 10_000, output: 100 });
  expect(dearest('claude-opus-4-5')).toBe(10_000 + 5000 + 2500);
  expect(dearest('model-nobody-sells')).toBeUndefined();
});
