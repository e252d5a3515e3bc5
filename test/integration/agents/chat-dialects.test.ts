import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { ModelAnswer } from '../../../src/agents/builtin/models/model.ts';
import { openaiChatModel } from '../../../src/agents/builtin/models/openai-chat.ts';

const started: Server[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** What the adapter makes of an answer that an endpoint wrote in its own dialect. */
async function answerTo(body: string, contentType = 'text/event-stream'): Promise<ModelAnswer> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': contentType }).end(body);
  });
  started.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = {
    url,
    key: 'k',
    id: 'm',
    role: 'coder',
    temperature: undefined,
    maxOutputTokens: 10,
    timeoutMs: 5_000,
  };
  const signal = new AbortController().signal;
  return openaiChatModel(settings).complete({ system: 's', user: 'u', history: [], tools: [], signal });
}

function stream(...chunks: readonly unknown[]): string {
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

const delta = (fields: unknown, finish: string | null = null): unknown => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const call = (fields: Record<string, unknown>, name: string | undefined, text: string): unknown =>
  delta({ tool_calls: [{ ...fields, function: { ...(name === undefined ? {} : { name }), arguments: text } }] });

test('parallel calls that all have index 0 are told apart by their ids', async () => {
  const body = stream(
    call({ index: 0, id: 'a' }, 'read_file', '{"path":"a"}'),
    call({ index: 0, id: 'b' }, 'read_file', '{"path":'),
    call({ index: 0, id: 'b' }, 'read_file', '"b"}'),
    delta({}, 'tool_calls'),
  );
  expect(await answerTo(body)).toMatchObject({
    calls: [
      { id: 'a', name: 'read_file', input: { path: 'a' } },
      { id: 'b', name: 'read_file', input: { path: 'b' } },
    ],
  });
});

test('calls without ids get one each, and the message that goes back has the same', async () => {
  const body = stream(call({ index: 0 }, 'x', '{}'), call({ index: 1 }, 'y', ''), delta({}, 'tool_calls'));
  expect(await answerTo(body)).toMatchObject({
    calls: [
      { id: 'call_0_0', name: 'x', input: {} },
      { id: 'call_0_1', name: 'y', input: {} },
    ],
    assistant: { tool_calls: [{ id: 'call_0_0' }, { id: 'call_0_1', function: { arguments: '{}' } }] },
  });
});

test('reasoning_content is kept for the message that goes back and is no text', async () => {
  const body = stream(
    delta({ reasoning_content: 'hm, ' }),
    delta({ reasoning_content: 'so' }),
    delta({ content: 'yes' }, 'stop'),
  );
  expect(await answerTo(body)).toMatchObject({
    text: 'yes',
    assistant: { role: 'assistant', content: 'yes', reasoning_content: 'hm, so' },
  });
});

test('usage is read from the last chunk in disjoint classes', async () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  expect(await answerTo(stream(delta({ content: 'x' }, 'stop'), { choices: [], usage }))).toMatchObject({
    usage: { input: 40, cacheRead: 60, output: 7, reasoning: 3 },
  });
});

test('an answer withheld by a filter fails, and JSON in place of a stream is no empty answer', async () => {
  expect(await answerTo(stream(delta({}, 'content_filter')))).toMatchObject({ kind: 'failed' });
  const whole = JSON.stringify({ choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] });
  expect(await answerTo(whole, 'application/json')).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('broke off before its end'),
  });
});

test('an error chunk that means money is the budget', async () => {
  const body = stream({ error: { message: 'Budget reached', type: 'billing_error', code: 'insufficient_quota' } });
  expect(await answerTo(body)).toEqual({ kind: 'budget', message: 'Budget reached' });
});
