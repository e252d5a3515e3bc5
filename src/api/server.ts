import { lstatSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { umask } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { OrchestratorError } from '../domain/errors.ts';
import type { Backend } from './backend.ts';
import { serveConnection } from './connection.ts';

export interface ApiServerOptions {
  readonly socketPath: string;
  readonly backend: Backend;
  /** One line for the daemon's log: a request that failed for a reason that is not the client's. */
  readonly log: (message: string) => void;
}

/**
 * Serves the backend on a Unix socket, mode 0600 from birth, in a directory that must be 0700. A socket file that is
 * there already is an error: only the caller, who holds the daemon lock, may know that it is stale and remove it.
 * `stop` ends waiting requests, lets answers that are under way out (at most `STOP_GRACE_MS`) and removes the file.
 */
export async function startApiServer(options: ApiServerOptions): Promise<{ stop(): Promise<void> }> {
  requirePrivateDirectory(dirname(options.socketPath));
  const open = new Map<Socket, { finish(): Promise<void> }>();
  const server = createServer((socket) => {
    open.set(socket, serveConnection(socket, options));
    socket.on('close', () => open.delete(socket));
  });
  await listenPrivately(server, options.socketPath);
  server.on('error', (error) => options.log(`control socket: ${error.message}`));
  return {
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const finished = Promise.all([...open.values()].map((connection) => connection.finish()));
      await Promise.race([finished, delay(STOP_GRACE_MS, undefined, { ref: false })]);
      for (const socket of open.keys()) socket.destroy();
      await closed;
    },
  };
}

const STOP_GRACE_MS = 2000;

function requirePrivateDirectory(directory: string): void {
  const mode = lstatSync(directory).mode;
  if ((mode & 0o077) === 0) return;
  throw new OrchestratorError(
    'configuration',
    `the control socket's directory ${directory} is open to other users (mode ${(mode & 0o777).toString(8)}): chmod 700 it`,
  );
}

function listenPrivately(server: Server, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new OrchestratorError('failed', `cannot listen on the control socket ${socketPath}: ${cause.message}`, {
          cause,
        }),
      ),
    );
    server.once('listening', resolve);
    // bind(2) happens inside listen(), before it returns: the file never exists with another mode.
    const previous = umask(0o177);
    try {
      server.listen(socketPath);
    } finally {
      umask(previous);
    }
  });
}
