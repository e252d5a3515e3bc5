import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { anthropicBody, anthropicError, anthropicEvents } from './anthropic-wire.ts';
import { chatBody, chatError, chatEvents } from './chat-wire.ts';
import { type PlannedAnswer, planAnswer, type Tokens } from './planned-answer.ts';
import type { Reply, Script, ScriptProtocol, ScriptRequest } from './script.ts';
import { type Json, readScriptRequest, record } from './script-request.ts';

/** What this provider billed for one answered request; tokens in disjoint classes. */
export interface BookRow extends Tokens {
  readonly at: number;
  readonly key: string;
  readonly model: string;
  readonly protocol: ScriptProtocol;
  readonly status: number;
}

export interface ScriptedModel {
  /** `http://127.0.0.1:<port>`, without `/v1`. */
  readonly url: string;
  /** The provider's books, in the order of the answers; a stream that is cut is billed in full. */
  readonly requests: readonly BookRow[];
  stop(): Promise<void>;
}

/** Serves Messages and Chat Completions from a script; it keeps no conversation, so a repeated call is answered alike. */
export async function startScriptedModel(options: {
  script: Script;
  host?: '127.0.0.1';
  chunkDelayMs?: number;
  now?: () => number;
}): Promise<ScriptedModel> {
  const books: BookRow[] = [];
  const context: Context = {
    script: options.script,
    chunkDelayMs: options.chunkDelayMs ?? 0,
    now: options.now ?? Date.now,
    enter: (row) => books.push(row),
  };
  const server = createServer((request, response) => {
    answer(context, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, options.host ?? '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: books,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Context {
  readonly script: Script;
  readonly chunkDelayMs: number;
  readonly now: () => number;
  readonly enter: (row: BookRow) => void;
}

const ROUTES: ReadonlyMap<string, ScriptProtocol> = new Map([
  ['/v1/messages', 'anthropic'],
  ['/v1/chat/completions', 'openai-chat'],
]);
const NOTHING: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

async function answer(context: Context, http: IncomingMessage, response: ServerResponse): Promise<void> {
  const bytes = await readBody(http);
  const protocol = ROUTES.get((http.url ?? '').replace(/\?.*$/, ''));
  if (protocol === undefined || http.method !== 'POST') {
    return sendJson(response, 404, chatError(404, `The scripted model has no ${http.method} ${http.url}`));
  }
  const key = keyOf(http);
  const body = parseBody(bytes);
  if (key === '') return sendJson(response, 401, errorBody(protocol, 401, 'No key came with the request'));
  if (body === undefined) return sendJson(response, 400, errorBody(protocol, 400, 'The body is not a JSON object'));
  const request = readScriptRequest(protocol, key, body);
  const reply = await askScript(context.script, request);
  if (reply.delayMs !== undefined) await delay(reply.delayMs);
  const status = reply.status ?? 200;
  const planned = planAnswer(request, reply, bytes.length);
  const tokens = status === 200 ? planned.usage : NOTHING;
  context.enter({ at: context.now(), key, model: request.model, protocol, status, ...tokens });
  if (status !== 200 || reply.body !== undefined) return sendScripted(response, protocol, status, reply);
  await sendAnswer(context, response, { request, reply, planned, body });
}

async function readBody(http: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of http) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function keyOf(http: IncomingMessage): string {
  const bearer = /^Bearer (.+)$/i.exec(http.headers.authorization ?? '')?.[1];
  return String(http.headers['x-api-key'] ?? bearer ?? '');
}

function parseBody(bytes: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? record(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A script that throws is a mistake of its author: said as a 500 that names it. */
async function askScript(script: Script, request: ScriptRequest): Promise<Reply> {
  try {
    return await script(request);
  } catch (error) {
    return { status: 500, text: `The script failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function sendScripted(response: ServerResponse, protocol: ScriptProtocol, status: number, reply: Reply): void {
  const body = reply.body ?? errorBody(protocol, status, reply.text ?? `Scripted answer ${status}`);
  if (typeof body === 'string') {
    response.writeHead(status, { 'content-type': 'text/html', ...reply.headers }).end(body);
  } else {
    sendJson(response, status, body, reply.headers);
  }
}

function errorBody(protocol: ScriptProtocol, status: number, message: string): Json {
  return protocol === 'anthropic' ? anthropicError(status, message) : chatError(status, message);
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Reply['headers'] = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

interface Answer {
  readonly request: ScriptRequest;
  readonly reply: Reply;
  readonly planned: PlannedAnswer;
  readonly body: Json;
}

async function sendAnswer(context: Context, response: ServerResponse, answer: Answer): Promise<void> {
  const { request, reply, planned } = answer;
  const isAnthropic = request.protocol === 'anthropic';
  if (!request.stream) {
    if (reply.cutAfterEvents !== undefined) response.destroy();
    else
      sendJson(response, 200, isAnthropic ? anthropicBody(planned) : chatBody(planned, context.now()), reply.headers);
    return;
  }
  const includeUsage = record(answer.body['stream_options'])['include_usage'] === true;
  const events = isAnthropic ? anthropicEvents(planned) : chatEvents(planned, context.now(), includeUsage);
  if (reply.cutAfterEvents === 0) return void response.destroy();
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...reply.headers });
  for (const event of events.slice(0, reply.cutAfterEvents)) {
    if (response.destroyed) return;
    response.write(event);
    if (context.chunkDelayMs > 0) await delay(context.chunkDelayMs);
  }
  if (reply.cutAfterEvents === undefined) response.end();
  // What was written has to leave first, or the client would see no event at all.
  else response.write('', () => setImmediate(() => response.destroy()));
}
