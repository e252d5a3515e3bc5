import { expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/domain/usage.ts';
import { createEstimateBook, estimateInput, estimateOutput } from '../../../src/gateway/estimate.ts';
import { measureMedia } from '../../../src/gateway/media.ts';

const size = (textBytes: number, mediaTokens = 0) => ({ textBytes, mediaTokens });
const usage = { ...NO_USAGE, input: 500, cacheRead: 8000, cacheWrite5m: 1000, cacheWrite1h: 1000, output: 77 };
const last = { ...size(30_000), usage, at: 1_000_000 };

test('a first call: bytes / 2.5, pictures apart', () => {
  expect(estimateInput({ size: size(2500, 1600), last: undefined, cacheReadWeight: 0.1, now: 0 })).toBe(2600);
});

test('later calls: last actual + new bytes / 2.2, cached parts at the weight of reads while the cache lives', () => {
  const soon = { size: size(32_200, 1600), last, cacheReadWeight: 0.1, now: last.at + 60_000 };
  expect(estimateInput(soon)).toBe(500 + 1000 + 1000 + 1600);
  expect(estimateInput({ ...soon, now: last.at + 300_000 })).toBe(500 + 10_000 + 1000 + 1600);
  expect(estimateInput({ ...soon, now: last.at - 1 })).toBe(500 + 10_000 + 1000 + 1600);
});

test('a body that shrank starts over', () => {
  expect(estimateInput({ size: size(25_000), last, cacheReadWeight: 0.1, now: last.at })).toBe(10_000);
});

test('output that was seen is estimated on the high side', () => {
  expect(estimateOutput(22)).toBe(10);
  expect(estimateOutput(0)).toBe(0);
});

test('base64 is counted by picture or page', () => {
  const data = 'A'.repeat(300_000);
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  expect(measureMedia({ messages: [{ content: [image] }] })).toEqual({ encodedBytes: 300_000, tokens: 1600 });
  const url = `data:image/png;base64,${data}`;
  expect(measureMedia({ image_url: { url } })).toEqual({ encodedBytes: url.length, tokens: 1600 });
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
  expect(measureMedia(pdf)).toEqual({ encodedBytes: 300_000, tokens: 10_000 });
  // Text that only looks like it is text: an agent can't make it cheaper.
  expect(measureMedia({ content: data, input: { data } })).toEqual({ encodedBytes: 0, tokens: 0 });
});

test('the book keeps the newest thousand conversations', () => {
  const book = createEstimateBook();
  for (let n = 0; n <= 1000; n++) book.remember(`c${n}`, { ...last, at: n });
  expect(book.last('c0')).toBeUndefined();
  expect(book.last('c1')?.at).toBe(1);
  expect(book.last('c1000')?.at).toBe(1000);
});
