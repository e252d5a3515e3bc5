import { expect, test } from 'vitest';
import { routeOf } from '../../../src/gateway/routes.ts';
import { upstreamUrl } from '../../../src/gateway/upstream-url.ts';

test.each([
  ['/v1/messages', 'anthropic'],
  ['/messages', 'anthropic'],
  ['/v1/v1/messages', 'anthropic'],
  ['/v1/messages/v1/messages', 'anthropic'],
  ['/chat/completions', 'openai-chat'],
  ['/v1/chat/completions/chat/completions', 'openai-chat'],
  ['/v1/responses', 'openai-responses'],
  ['/responses/responses', 'openai-responses'],
])('%s is a call of %s', (path, protocol) => {
  expect(routeOf('POST', path)).toMatchObject({ kind: 'call', protocol });
});

test.each([
  ['POST', '//v1/messages'],
  ['POST', '/V1/messages'],
  ['POST', '/v1/%6dessages'],
  ['POST', '/v1/messages/'],
  ['POST', '/v1/messages/batches'],
  ['POST', '/v1/../v1/messages'],
  ['POST', '/v1/files'],
  ['POST', '/v1/chat/completions/responses'],
  ['POST', '/v1/realtime'],
  ['GET', '/v1/messages'],
  ['PUT', '/v1/messages'],
  ['POST', '/v1/models'],
  ['GET', '/'],
  [undefined, '/v1/messages'],
])('%s %s is nothing', (method, path) => {
  expect(routeOf(method, path)).toBeUndefined();
});

test('token counts and the model list', () => {
  expect(routeOf('POST', '/v1/messages/count_tokens')).toMatchObject({ kind: 'count-tokens' });
  expect(routeOf('POST', '/v1/messages/v1/messages/count_tokens')).toMatchObject({ kind: 'count-tokens' });
  expect(routeOf('GET', '/v1/models')).toEqual({ kind: 'models' });
});

test.each([
  ['https://h', 'auto', '/v1/messages', 'https://h/v1/messages?beta=true'],
  ['https://h/', 'auto', '/v1/messages', 'https://h/v1/messages?beta=true'],
  ['https://h/v1', 'auto', '/v1/messages', 'https://h/v1/messages?beta=true'],
  [
    'https://h/proxy/v1/chat/completions/',
    'auto',
    '/v1/chat/completions',
    'https://h/proxy/v1/chat/completions?beta=true',
  ],
  ['https://h/anthropic/v1/messages', 'auto', '/v1/messages', 'https://h/anthropic/v1/messages?beta=true'],
  ['https://h/api/v3', 'raw', '/v1/chat/completions', 'https://h/api/v3/chat/completions?beta=true'],
  ['https://h/api', 'raw', '/v1/messages', 'https://h/api/v1/messages?beta=true'],
] as const)('%s (%s) + %s', (baseUrl, pathStyle, path, url) => {
  expect(upstreamUrl({ baseUrl, pathStyle, path, search: '?beta=true' }).href).toBe(url);
});
