import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCpu, tell } from './tell.ts';

// The least that a proxy in Node can do: forward head and bytes both ways, look at nothing.
const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, outgoing) => {
  const upstream = request(
    { host: '127.0.0.1', port, path: incoming.url, method: incoming.method, headers: incoming.headers, agent },
    (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    },
  );
  upstream.on('error', () => outgoing.destroy());
  incoming.pipe(upstream);
});
// Longer than a round of the other side: a socket that is closed while idle would look like a failure.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port, key: 'unused' }));
answerCpu(() => server.closeAllConnections());
