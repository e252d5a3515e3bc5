import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import type { View } from './sandbox.ts';

/** A small world with something to attack outside of a view, for the probe at start. */
export interface Arena {
  readonly view: View;
  readonly targets: {
    readonly allowed: string;
    readonly write: string;
    readonly read: string;
    readonly unix: string;
    readonly port: number;
  };
  stop(): void;
}

/** What the file `targets.write` holds until somebody gets out. */
export const UNTOUCHED = 'untouched';

export async function buildArena(root: string, readOnly: readonly string[]): Promise<Arena> {
  const inRoot = (name: string): string => path.join(root, name);
  for (const name of ['tree', 'scratch', 'home', 'hidden']) await mkdir(inRoot(name));
  const files = {
    allowed: path.join(inRoot('tree'), 'allowed'),
    write: inRoot('outside'),
    read: path.join(inRoot('hidden'), 'secret'),
    unix: path.join(inRoot('hidden'), 's'),
  };
  await writeFile(files.write, UNTOUCHED);
  await writeFile(files.read, 'must not be seen');
  const tcp = await listen({ host: '127.0.0.1', port: 0 });
  const unix = await listen({ path: files.unix });
  const address = tcp.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    targets: { ...files, port },
    view: {
      tree: inRoot('tree'),
      scratch: inRoot('scratch'),
      home: inRoot('home'),
      readOnly,
      denyDirectories: [],
      hidden: [inRoot('hidden')],
      sockets: [],
    },
    stop: () => {
      tcp.close();
      unix.close();
    },
  };
}

function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => resolve(server));
  });
}
