import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCpu, tell } from './tell.ts';

// A provider that costs nothing: 1.5 kB of JSON, or 200 chunks and a usage chunk as SSE.
const usage = { prompt_tokens: 5000, completion_tokens: 200, total_tokens: 5200 };
const json = JSON.stringify({
  id: 'c-1',
  object: 'chat.completion',
  model: 'scripted',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x'.repeat(1300) } }],
  usage,
});
const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', ...delta })}\n\n`;
const piece = chunk({ choices: [{ index: 0, delta: { content: 'Twenty-four bytes of text' } }] });
const end = `${chunk({ choices: [], usage })}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  let streams = false;
  request.on('data', (bytes: Buffer) => {
    streams ||= bytes.includes('"stream":true');
  });
  request.on('end', () => (streams ? void stream(response) : answer(response)));
});
// Longer than a round of the other side: a socket that is closed while idle would look like a failure.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => tell((server.address() as AddressInfo).port));
answerCpu(() => server.closeAllConnections());

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(json);
}

/** Chunks leave one by one, as a model makes them. */
async function stream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < 200 && !response.destroyed; n += 1) {
    response.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end(end);
}
