import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { LaunchOptions, Sandbox, View } from '../../../src/sandbox/sandbox.ts';
import { toolchainPaths } from '../../../src/sandbox/toolchain.ts';

/** A user's machine in a directory: home with a key, checkout, state directory with sockets, another role's tree. */
export interface World {
  readonly root: string;
  readonly view: View;
  readonly files: Readonly<
    Record<
      'checkout' | 'protected' | 'state' | 'env' | 'key' | 'otherTree' | 'denied' | 'daemonSocket' | 'gatewaySocket',
      string
    >
  >;
  readonly port: number;
  readonly abstractName: string;
  stop(): Promise<void>;
}

export const SECRET = 'canary-5f1c';

export async function buildWorld(parent: string): Promise<World> {
  mkdirSync(parent, { recursive: true });
  const root = realpathSync(mkdtempSync(path.join(parent, 'orch-sbx-')));
  const at = (...parts: string[]): string => path.join(root, ...parts);
  const files = {
    checkout: at('home/checkout'),
    protected: at('home/checkout/prot.txt'),
    state: at('state'),
    env: at('state/.env'),
    key: at('home/.ssh/id_decoy'),
    otherTree: at('state/workspaces/slot-2/tree/other.txt'),
    denied: at('state/workspaces/slot-1/tree/denied/d.txt'),
    daemonSocket: at('state/d.sock'),
    gatewaySocket: at('state/g.sock'),
  };
  for (const file of [files.protected, files.env, files.key, files.otherTree, files.denied]) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, SECRET);
  }
  for (const directory of ['state/workspaces/slot-1/scratch', 'state/homes/coder', 'state/store.git/objects']) {
    mkdirSync(at(directory), { recursive: true });
  }
  writeFileSync(at('state/store.git/objects/known'), 'object');
  const abstractName = `\0orch-sbx-${path.basename(root)}`;
  const tcp = await listen({ host: '127.0.0.1', port: 0 });
  const sockets = [{ path: files.daemonSocket }, { path: files.gatewaySocket }, { path: abstractName }];
  const servers = [tcp, ...(await Promise.all(sockets.map(listen)))];
  const address = tcp.address();
  return {
    root,
    files,
    abstractName,
    port: address !== null && typeof address === 'object' ? address.port : 0,
    view: {
      tree: at('state/workspaces/slot-1/tree'),
      scratch: at('state/workspaces/slot-1/scratch'),
      home: at('state/homes/coder'),
      readOnly: [...nodePaths(), at('state/store.git/objects')],
      denyDirectories: ['denied'],
      hidden: [files.checkout, files.state, at('home')],
      sockets: [files.gatewaySocket],
    },
    stop: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      rmSync(root, { recursive: true });
    },
  };
}

function nodePaths(): string[] {
  return toolchainPaths({ path: '', execPath: process.execPath, packageRoot: path.resolve('.'), home: undefined });
}

export interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs bash in a view to its end. NODE names the running node. */
export async function runIn(
  sandbox: Sandbox,
  view: View,
  script: string,
  options: Partial<LaunchOptions> = {},
): Promise<Ran> {
  const launched = sandbox.launch(view, {
    argv: ['/bin/bash', '-c', script],
    cwd: view.tree,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: view.home, TMPDIR: view.scratch, NODE: process.execPath },
    network: 'none',
    ...options,
  });
  const output = text(launched.stdout);
  const errors = text(launched.stderr);
  const { code } = await launched.exited;
  await launched.end();
  return { code, output: await output, errors: await errors };
}

function listen(where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('hello'));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => resolve(server));
  });
}
