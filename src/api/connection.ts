import type { Socket } from 'node:net';
import { z } from 'zod';
import { messageOf, OrchestratorError } from '../domain/errors.ts';
import type { Backend } from './backend.ts';
import { METHODS, requestLine } from './contract.ts';
import { encodeLine, lineSplitter, type WireError, type WireResponse } from './wire.ts';

/**
 * Answers the requests of one client. Long polls end when the client goes away (their signal is aborted); `finish`
 * aborts them too, waits for the answers that are under way and then ends the connection.
 */
export function serveConnection(
  socket: Socket,
  options: { readonly backend: Backend; readonly log: (message: string) => void },
): { finish(): Promise<void> } {
  const gone = new AbortController();
  const underWay = new Set<Promise<void>>();
  const send = (response: WireResponse) => {
    if (!socket.destroyed && socket.writable) socket.write(encodeLine(response));
  };
  const feed = lineSplitter(MAX_REQUEST_BYTES, (line) => {
    const answered = answerLine(line, { ...options, signal: gone.signal }).then((response) => {
      underWay.delete(answered);
      send(response);
    });
    underWay.add(answered);
  });
  socket.on('data', (chunk: Buffer) => {
    if (feed(chunk)) return;
    send({ id: 0, error: { code: 'usage', message: 'the request is longer than 4 MiB', details: [] } });
    socket.destroySoon();
  });
  socket.on('end', () => gone.abort());
  socket.on('close', () => gone.abort());
  // A reset by the client is its way to leave; 'close' follows and ends what it waited for.
  socket.on('error', () => gone.abort());
  return {
    async finish() {
      gone.abort();
      await Promise.all(underWay);
      await new Promise<void>((resolve) => {
        if (socket.destroyed) return resolve();
        socket.once('close', () => resolve());
        socket.end(() => socket.destroySoon());
      });
    },
  };
}

const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

async function answerLine(
  line: string,
  options: { readonly backend: Backend; readonly log: (message: string) => void; readonly signal: AbortSignal },
): Promise<WireResponse> {
  let id = 0;
  let name = 'request';
  try {
    const request = requestLine.parse(parseJson(line));
    id = request.id;
    name = request.method;
    const result = await findMethod(name).call(options.backend, request.params ?? undefined, options.signal);
    return { id, result };
  } catch (error) {
    if (!isExpected(error)) options.log(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
    return { id, error: describe(error, name) };
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new OrchestratorError('usage', 'the request is not a line of JSON', { cause });
  }
}

function findMethod(name: string) {
  if (Object.hasOwn(METHODS, name)) return METHODS[name as keyof Backend];
  throw new OrchestratorError(
    'usage',
    `the daemon has no method ${JSON.stringify(name)}: client and daemon may differ in version, restart the daemon`,
  );
}

function isExpected(error: unknown): boolean {
  return error instanceof OrchestratorError || error instanceof z.ZodError;
}

function describe(error: unknown, method: string): WireError {
  if (error instanceof OrchestratorError) return { code: error.code, message: error.message, details: error.details };
  if (error instanceof z.ZodError) {
    const details = error.issues.map((issue) => `${issue.path.join('.') || 'params'}: ${issue.message}`);
    return { code: 'usage', message: `the parameters of ${method} are wrong`, details };
  }
  return { code: 'failed', message: messageOf(error), details: [] };
}
