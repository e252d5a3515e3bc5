import { expect, test } from 'vitest';
import { parseDuration, parsePercent, parseTokenLimit } from '../../../src/policy/quantity.ts';

test.each([
  ['200k', 200_000],
  ['2M', 2_000_000],
  ['1.5M', 1_500_000],
  ['1.1k', 1100],
  ['2e5', 200_000],
  [200000, 200_000],
  [0, 0],
  ['0', 0],
  ['unlimited', 'unlimited'],
])('%j tokens are %s', (written, expected) => {
  expect(parseTokenLimit(written)).toBe(expected);
});

test.each(['200K', '200 k', '-1', '1_000', 'infinite', '', '0x10', '1.5', 'Unlimited', '1e99', 'k'])(
  '%j is no token limit',
  (written) => {
    expect(parseTokenLimit(written)).toBeUndefined();
  },
);

test.each([
  ['500ms', 500],
  ['180s', 180_000],
  ['45m', 2_700_000],
  ['4h', 14_400_000],
  ['1d', 86_400_000],
])('%j is %d ms', (written, expected) => {
  expect(parseDuration(written)).toBe(expected);
});

test.each(['0s', '10', '-5m', '1h30m', '5 m', '400d', '', '1.5h'])('%j is no duration', (written) => {
  expect(parseDuration(written)).toBeUndefined();
});

test('percentages are shares above nothing and up to all', () => {
  expect(parsePercent('80%')).toBe(0.8);
  expect(parsePercent('100%')).toBe(1);
  for (const written of ['0%', '101%', '80', 0.8, '-5%', '%']) expect(parsePercent(written)).toBeUndefined();
});
