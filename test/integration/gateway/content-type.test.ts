import Anthropic from '@anthropic-ai/sdk';
import { afterEach, expect, test } from 'vitest';
import { html, type Reply } from './fake-upstream.ts';
import { grantFor, type Harness, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const EVENTS = [
  { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 30 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 12 } },
  { type: 'message_stop' },
];
const STREAM = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

async function textOf(reply: Reply): Promise<string> {
  const running = await startHarness(() => reply);
  harness = running;
  const client = new Anthropic({
    apiKey: running.gateway.issue(grantFor({ limit: 1_000_000 })),
    baseURL: running.gateway.url,
    maxRetries: 0,
  });
  const messages = [{ role: 'user' as const, content: 'Say hi.' }];
  const answer = await client.messages.stream({ model: 'model-a', max_tokens: 500, messages }).finalMessage();
  expect(answer.usage).toMatchObject({ input_tokens: 30, output_tokens: 12 });
  return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

test.each([
  ['none', {}],
  ['application/octet-stream', { 'content-type': 'application/octet-stream' }],
  ['text/plain', { 'content-type': 'text/plain' }],
])('a stream is understood under the content type %s', async (_name, headers) => {
  expect(await textOf((response) => void response.writeHead(200, headers).end(STREAM))).toBe('Hi.');
});

test('a page that is no stream stays an error that says what came', async () => {
  await expect(textOf(html('<p>event: login</p>'))).rejects.toThrow(/text\/html where an event stream/);
});
