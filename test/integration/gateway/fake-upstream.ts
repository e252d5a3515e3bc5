import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request as the model endpoint got it. */
export interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
export type Reply = (response: ServerResponse, seen: Seen) => void | Promise<void>;

export interface FakeUpstream {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Calls whose connection the gateway ended before the answer was complete. */
  aborted(): number;
  stop(): Promise<void>;
}

/** A model endpoint on 127.0.0.1; `replyOf` says what to do with the nth request (from 0). */
export async function startFakeUpstream(replyOf: (n: number, seen: Seen) => Reply): Promise<FakeUpstream> {
  const seen: Seen[] = [];
  let aborted = 0;
  const server = createServer(async (request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) aborted++;
    });
    const entry = { url: request.url ?? '', headers: request.headers, body: await buffer(request) };
    seen.push(entry);
    await replyOf(seen.length - 1, entry)(response, entry);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    aborted: () => aborted,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

export function html(text: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(text);
  };
}

/** Events one after the other; then the end, a cut connection, or silence. */
export function events(list: readonly string[], ending: 'end' | 'cut' | 'hang' = 'end'): Reply {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    for (const event of list) {
      response.write(event);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (ending === 'end') response.end();
    if (ending === 'cut') setTimeout(() => response.destroy(), 20);
  };
}

export const destroy: Reply = (response) => {
  response.destroy();
};
export const silence: Reply = () => undefined;

const named = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** What the Messages stream of one answer looks like. 7 events; usage 300 in, 40 out, 1,000 read, 200 written. */
export const ANTHROPIC_EVENTS: readonly string[] = [
  named('message_start', {
    message: {
      id: 'msg_1',
      role: 'assistant',
      content: [],
      model: 'model-a',
      usage: { input_tokens: 300, cache_read_input_tokens: 1000, cache_creation_input_tokens: 200, output_tokens: 1 },
    },
  }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'x'.repeat(44) } }),
  named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'y'.repeat(22) } }),
  named('content_block_stop', { index: 0 }),
  named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } }),
  named('message_stop', {}),
];
export const ANTHROPIC_ANSWER = {
  id: 'msg_2',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'hé' }],
  usage: { input_tokens: 500, output_tokens: 60 },
};

const chunk = (data: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...data })}\n\n`;
const choice = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

export const CHAT_EVENTS: readonly string[] = [
  chunk(choice({ role: 'assistant', content: 'a'.repeat(22) })),
  chunk(choice({ content: 'b'.repeat(22) })),
  chunk(choice({}, 'stop')),
];
export const CHAT_USAGE_EVENT: string = chunk({
  choices: [],
  usage: { prompt_tokens: 800, completion_tokens: 90, prompt_tokens_details: { cached_tokens: 500 } },
});
export const CHAT_DONE = 'data: [DONE]\n\n';

export const RESPONSES_EVENTS: readonly string[] = [
  named('response.created', { response: { id: 'r', status: 'in_progress', usage: null } }),
  named('response.output_text.delta', { delta: 'z'.repeat(22) }),
  named('response.completed', {
    response: {
      id: 'r',
      status: 'completed',
      output: [],
      usage: { input_tokens: 700, input_tokens_details: { cached_tokens: 100 }, output_tokens: 30 },
    },
  }),
];
