import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, expect, test } from 'vitest';
import { json } from './fake-upstream.ts';
import { grantFor, type Harness, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const messages = [{ role: 'user' as const, content: 'Say hi.' }];
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'model-a',
  content: [
    { type: 'thinking', thinking: 'Hm, ü.', signature: 'sig' },
    { type: 'text', text: 'I look. 北京' },
    { type: 'tool_use', id: 'tool_1', name: 'read_file', input: { path: 'a "b".py' } },
    { type: 'tool_use', id: 'tool_2', name: 'finish', input: {} },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 30, cache_read_input_tokens: 5, output_tokens: 12 },
};

test('an endpoint that answers JSON where a stream was asked for is understood all the same: Messages', async () => {
  const running = await startHarness(() => json(200, MESSAGE));
  harness = running;
  const client = new Anthropic({
    apiKey: running.gateway.issue(grantFor({ limit: 1_000_000 })),
    baseURL: running.gateway.url,
  });
  const answer = await client.messages.stream({ model: 'model-a', max_tokens: 500, messages }).finalMessage();
  expect(answer.content).toMatchObject(MESSAGE.content);
  expect(answer.stop_reason).toBe('tool_use');
  expect(answer.usage).toMatchObject(MESSAGE.usage);
});

test('an endpoint that answers JSON where a stream was asked for is understood all the same: Chat Completions', async () => {
  const calls = [{ id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } }];
  const running = await startHarness(() =>
    json(200, {
      id: 'c',
      object: 'chat.completion',
      model: 'model-a',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'I look.', tool_calls: calls },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 },
    }),
  );
  harness = running;
  const client = new OpenAI({
    apiKey: running.gateway.issue(grantFor({ limit: 1_000_000 })),
    baseURL: `${running.gateway.url}/v1`,
  });
  const stream = client.chat.completions.stream({
    model: 'model-a',
    messages,
    stream_options: { include_usage: true },
  });
  const answer = await stream.finalChatCompletion();
  expect(answer.choices[0]?.message).toMatchObject({ content: 'I look.', tool_calls: calls });
  expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
  expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 7 });
});

test('what is no answer of the protocol stays an explained error', async () => {
  const running = await startHarness(() => json(200, { hello: 'world' }));
  harness = running;
  const client = new Anthropic({
    apiKey: running.gateway.issue(grantFor({ limit: 1_000_000 })),
    baseURL: running.gateway.url,
    maxRetries: 0,
  });
  const call = client.messages.stream({ model: 'model-a', max_tokens: 500, messages }).finalMessage();
  await expect(call).rejects.toThrow(/answered 200 with application\/json where an event stream/);
});
