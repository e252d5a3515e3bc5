import { expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/domain/usage.ts';
import { spendOfAnswer, spendOfSilence, spendOfStream, withLostAttempts } from '../../../src/gateway/spend.ts';

const reserved = { input: 100, output: 50 };
const stated = { ...NO_USAGE, input: 25, cacheRead: 900, output: 1 };
const stream = { usage: undefined, done: false, finished: false, failed: false, streamedBytes: 44 };

test('a stated usage is taken as it is, zero included', () => {
  expect(spendOfAnswer(NO_USAGE, reserved)).toEqual({ source: 'upstream', usage: NO_USAGE, estimatedTokens: 0 });
  expect(spendOfStream({ ...stream, usage: stated, finished: true }, reserved)).toEqual({
    source: 'upstream',
    usage: stated,
    estimatedTokens: 0,
  });
});

test('a cut stream keeps its stated input and has its output estimated, never below what was stated', () => {
  expect(spendOfStream({ ...stream, usage: stated }, reserved)).toEqual({
    source: 'partial',
    usage: { ...stated, output: 20 },
    estimatedTokens: 19,
  });
  expect(spendOfStream({ ...stream, usage: { ...stated, output: 30 } }, reserved).usage.output).toBe(30);
});

test('without any usage the input is the reservation and the output what was seen', () => {
  const usage = { ...NO_USAGE, input: 100, output: 20 };
  expect(spendOfStream({ ...stream, done: true, finished: true }, reserved)).toEqual({
    source: 'estimated',
    usage,
    estimatedTokens: 120,
  });
  expect(spendOfAnswer(undefined, reserved)).toMatchObject({ source: 'estimated', estimatedTokens: 150 });
});

test('silence is charged in full, an attempt that broke at once with its input', () => {
  expect(spendOfSilence(reserved)).toMatchObject({ usage: { input: 100, output: 50 }, estimatedTokens: 150 });
  const spend = withLostAttempts(spendOfAnswer(stated, reserved), 2, reserved);
  expect(spend).toMatchObject({ source: 'upstream', usage: { input: 225, output: 1 }, estimatedTokens: 200 });
});
