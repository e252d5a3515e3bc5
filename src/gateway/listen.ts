import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';

/** A free port on 127.0.0.1 and no other address. */
export async function listenOnLoopback(server: Server): Promise<void> {
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
}

/** A stale socket of a dead daemon is replaced: the daemon lock says that there is no other owner. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  server.listen({ path });
  await once(server, 'listening');
  chmodSync(path, 0o600);
}

/** Takes no new connections; resolves when the last one has ended. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await closed;
}
