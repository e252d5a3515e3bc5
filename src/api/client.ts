import { lstatSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import type { AnswerResult, Backend } from './backend.ts';
import { type Call, openChannel } from './channel.ts';

/** The backend, over the wire. `close` ends the connection and with it every call that still waits. */
export type ApiClient = Backend & { close(): void };

export interface ConnectOptions {
  /** The user that must own the socket and its directory. */
  readonly uid: number;
  /** Aborting it ends the connection; waiting calls reject with `interrupted`. */
  readonly signal?: AbortSignal;
}

/**
 * Connects to the daemon. Throws `no-daemon` when nobody listens and `refused` when the socket could be somebody
 * else's. Loads nothing but node's own modules: most commands are this client.
 */
export async function connectApi(socketPath: string, options: ConnectOptions): Promise<ApiClient> {
  requireOwnSocket(socketPath, options.uid);
  const socket = await openSocket(socketPath);
  const channel = openChannel(socket, options.signal);
  return { ...bindMethods(channel.call), close: channel.close };
}

function bindMethods(call: Call): Backend {
  return {
    status: () => call('status'),
    run: (request) => call('run', request),
    runs: () => call('runs'),
    showRun: (id) => call('showRun', id),
    cancel: (id) => call('cancel', id),
    retry: (request) => call('retry', request),
    resume: (run) => call('resume', run),
    checkpoints: (all) => call('checkpoints', all),
    showCheckpoint: (id) => call('showCheckpoint', id),
    approve: (request) => call<AnswerResult>('approve', request),
    reject: (request) => call<AnswerResult>('reject', request),
    report: (request) => call('report', request),
    violations: () => call('violations'),
    conflicts: () => call('conflicts'),
    restore: (request) => call('restore', request),
    policyReload: () => call('policyReload'),
    land: (request) => call('land', request),
    gc: (request) => call('gc', request),
    waitRun: (request) => call('waitRun', request),
    events: (request) => call('events', request),
    digest: (request) => call('digest', request),
    doctor: (request) => call('doctor', request),
    stop: (request) => call('stop', request),
  };
}

function requireOwnSocket(socketPath: string, uid: number): void {
  for (const [path, what] of [
    [socketPath, 'control socket'],
    [dirname(socketPath), "control socket's directory"],
  ] as const) {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) throw noDaemon(socketPath);
    if (stat.uid === uid && (stat.mode & 0o077) === 0 && !stat.isSymbolicLink()) continue;
    throw new OrchestratorError(
      'refused',
      `the ${what} ${path} is not private to you (owner ${stat.uid}, mode ${(stat.mode & 0o777).toString(8)}): ` +
        'remove it if it is not yours, stop and start the daemon',
    );
  }
}

function openSocket(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (cause: NodeJS.ErrnoException) => {
      const nobody = cause.code === 'ENOENT' || cause.code === 'ECONNREFUSED';
      const message = `cannot reach the daemon at ${socketPath}: ${cause.message}`;
      reject(nobody ? noDaemon(socketPath, cause) : new OrchestratorError('failed', message, { cause }));
    });
  });
}

function noDaemon(socketPath: string, cause?: unknown): OrchestratorError {
  return new OrchestratorError('no-daemon', 'the daemon is not running: start it with `orchestrator start`', {
    cause,
    details: [`nobody listens at ${socketPath}`],
  });
}
