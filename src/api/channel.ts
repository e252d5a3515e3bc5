import type { Socket } from 'node:net';
import { type ErrorCode, EXIT_CODES, OrchestratorError } from '../domain/errors.ts';
import { encodeLine, lineSplitter, type WireError, type WireResponse } from './wire.ts';

/** Sends one request and resolves with its result; rejects with the daemon's error. Results are the daemon's, trusted. */
export type Call = <Result>(method: string, params?: unknown) => Promise<Result>;

interface Waiter {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** The client's end of a connected control socket. */
export function openChannel(socket: Socket, signal?: AbortSignal): { call: Call; close(): void } {
  const waiting = new Map<number, Waiter>();
  let nextId = 1;
  let ending: OrchestratorError | undefined;
  const end = (reason: OrchestratorError) => {
    ending ??= reason;
    for (const waiter of waiting.values()) waiter.reject(ending);
    waiting.clear();
    socket.destroy();
  };
  const feed = lineSplitter(MAX_RESPONSE_BYTES, (line) => settle(waiting, JSON.parse(line) as WireResponse));
  socket.on('data', (chunk: Buffer) => {
    if (!feed(chunk)) end(new OrchestratorError('failed', "the daemon's answer is longer than 512 MiB"));
  });
  socket.on('error', (cause) => end(wentAway(cause)));
  socket.on('close', () => end(wentAway()));
  const interrupt = () => end(new OrchestratorError('interrupted', 'interrupted'));
  if (signal?.aborted) interrupt();
  signal?.addEventListener('abort', interrupt, { once: true });
  return {
    call: (method, params) =>
      new Promise((resolve, reject) => {
        if (ending !== undefined) return reject(ending);
        const id = nextId++;
        waiting.set(id, { resolve, reject });
        socket.write(encodeLine(params === undefined ? { id, method } : { id, method, params }));
      }),
    close() {
      signal?.removeEventListener('abort', interrupt);
      end(new OrchestratorError('interrupted', 'the connection to the daemon was closed'));
    },
  };
}

const MAX_RESPONSE_BYTES = 512 * 1024 * 1024;

function wentAway(cause?: Error): OrchestratorError {
  const message = 'the daemon went away before it answered: see `orchestrator logs`';
  return new OrchestratorError('no-daemon', message, { cause, details: cause === undefined ? [] : [cause.message] });
}

function settle(waiting: Map<number, Waiter>, response: WireResponse): void {
  const waiter = waiting.get(response.id);
  if (waiter === undefined) return;
  waiting.delete(response.id);
  if ('error' in response) waiter.reject(revive(response.error));
  else waiter.resolve(response.result as never);
}

function revive(error: WireError): OrchestratorError {
  const code: ErrorCode = Object.hasOwn(EXIT_CODES, error.code) ? (error.code as ErrorCode) : 'failed';
  return new OrchestratorError(code, error.message, { details: error.details });
}
