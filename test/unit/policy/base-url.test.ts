import { expect, test } from 'vitest';
import { normalizeBaseUrl } from '../../../src/policy/base-url.ts';

test.each([
  ['https://gateway.test', 'https://gateway.test', false],
  ['https://gateway.test/api', 'https://gateway.test/api', false],
  ['https://gateway.test/', 'https://gateway.test', true],
  ['https://gateway.test/v1', 'https://gateway.test', true],
  ['https://gateway.test/v1/', 'https://gateway.test', true],
  ['https://gateway.test/api/v1/messages', 'https://gateway.test/api', true],
  ['https://gateway.test/v1/chat/completions', 'https://gateway.test', true],
  ['https://gateway.test/v1/responses', 'https://gateway.test', true],
  ['https://gateway.test/api/anthropic', 'https://gateway.test/api', true],
  ['https://gateway.test/anthropic/v1/messages', 'https://gateway.test', true],
  ['https://gateway.test//api//v1/v1', 'https://gateway.test/api', true],
  ['http://127.0.0.1:8080/v10', 'http://127.0.0.1:8080/v10', false],
])('%s is %s', (written, url, noted) => {
  const result = normalizeBaseUrl(written);
  expect(result).toMatchObject({ ok: true, url });
  expect(result.ok && result.note !== undefined).toBe(noted);
});

test.each([
  'gateway.test',
  'ftp://gateway.test',
  'https://user:secret@gateway.test',
  'https://gateway.test/?key=secret',
  '',
])('%j is refused without showing it', (written) => {
  const result = normalizeBaseUrl(written);
  expect(result.ok).toBe(false);
  expect(JSON.stringify(result)).not.toContain('secret');
});

test.each([
  ['https://gateway.test/v1', 'https://gateway.test/v1'],
  ['https://gateway.test/anthropic/', 'https://gateway.test/anthropic'],
  ['https://gateway.test/', 'https://gateway.test'],
])('%s stays as it is with the path style raw', (written, url) => {
  expect(normalizeBaseUrl(written, 'raw')).toEqual({ ok: true, url });
});
