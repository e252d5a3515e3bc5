import { connect, createServer } from 'node:net';

/** Serves the gateway on the loopback of an empty network namespace: bytes go to its Unix socket and back. */
export function startRelay(relay: { port: number; socketPath: string }): Promise<void> {
  const server = createServer((client) => {
    const upstream = connect(relay.socketPath);
    client.pipe(upstream).pipe(client);
    // Either side's failure is the other side's end; there is nobody else to tell.
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(relay.port, '127.0.0.1', () => resolve());
  });
}
