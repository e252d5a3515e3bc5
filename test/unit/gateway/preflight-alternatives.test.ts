import { expect, test } from 'vitest';
import { alternativesOf, endpointUrl } from '../../../src/gateway/preflight/alternatives.ts';
import type { Protocol } from '../../../src/policy/policy.ts';

test.each<[string, 'auto' | 'raw', Protocol, string, string[]]>([
  [
    'https://h.test',
    'auto',
    'anthropic',
    'https://h.test/v1/messages',
    ['https://h.test/anthropic/v1/messages', 'https://h.test/api/v1/messages'],
  ],
  [
    'https://h.test/gate',
    'auto',
    'anthropic',
    'https://h.test/gate/v1/messages',
    ['https://h.test/gate/anthropic/v1/messages', 'https://h.test/v1/messages'],
  ],
  [
    'https://h.test',
    'auto',
    'openai-chat',
    'https://h.test/v1/chat/completions',
    ['https://h.test/chat/completions', 'https://h.test/api/v1/chat/completions'],
  ],
  [
    'https://h.test/v4',
    'raw',
    'openai-responses',
    'https://h.test/v4/responses',
    ['https://h.test/v1/responses', 'https://h.test/api/v1/responses'],
  ],
  [
    'https://h.test/v1',
    'raw',
    'openai-chat',
    'https://h.test/v1/chat/completions',
    ['https://h.test/api/v1/chat/completions'],
  ],
])('beside %s (%s, %s)', (baseUrl, pathStyle, protocol, tried, others) => {
  const endpoint = { baseUrl, pathStyle };
  expect(endpointUrl(endpoint, protocol).href).toBe(tried);
  const alternatives = alternativesOf(endpoint, protocol);
  expect(alternatives.map(({ url }) => url.href)).toEqual(others);
  for (const { url } of alternatives) expect(url.origin).toBe('https://h.test');
});

test('the setting that is told leads to the URL that was tried', () => {
  const [first] = alternativesOf({ baseUrl: 'https://h.test', pathStyle: 'auto' }, 'anthropic');
  expect(first?.setting).toBe('gateway.base_url: https://h.test/anthropic and gateway.path_style: raw');
  expect(endpointUrl({ baseUrl: 'https://h.test/anthropic', pathStyle: 'raw' }, 'anthropic').href).toBe(
    first?.url.href,
  );
});
