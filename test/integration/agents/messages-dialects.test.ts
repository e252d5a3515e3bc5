import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { anthropicModel } from '../../../src/agents/builtin/models/anthropic.ts';
import type { ModelAnswer } from '../../../src/agents/builtin/models/model.ts';

const started: Server[] = [];
afterEach(async () => {
  for (const server of started.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

async function answerTo(events: readonly WireEvent[]): Promise<ModelAnswer> {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
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
  return anthropicModel(settings).complete({ system: 's', user: 'u', history: [], tools: [], signal });
}

const call = { type: 'tool_use', id: 't', name: 'finish', input: { summary: 'Done.' } };

test('an endpoint that states no usage and sends events of its own is answered all the same', async () => {
  const answer = await answerTo([
    { type: 'message_start', message: { id: 'm', role: 'assistant', content: [] } },
    { type: 'ping' },
    { type: 'of_the_future', index: 0 },
    { type: 'content_block_start', index: 0, content_block: call },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ]);
  expect(answer).toMatchObject({ kind: 'answer', calls: [{ name: 'finish', input: { summary: 'Done.' } }] });
  expect(answer).toMatchObject({ usage: { input: 0, output: 0 } });
});
