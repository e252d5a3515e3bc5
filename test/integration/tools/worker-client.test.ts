import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { connectWorker } from '../../../src/agents/builtin/tools/worker-client.ts';
import { openSandbox } from '../../../src/sandbox/open-sandbox.ts';
import type { SandboxedProcess } from '../../../src/sandbox/sandbox.ts';

/** A worker that behaves as the script says. */
async function start(script: string): Promise<SandboxedProcess> {
  const log = { info: () => undefined, warn: () => undefined };
  const sandbox = await openSandbox({ mode: 'detect-only', probeDirectory: tmpdir(), environment: {}, log });
  const directory = tmpdir();
  const view = {
    ...{
      tree: directory,
      scratch: directory,
      home: directory,
      readOnly: [],
      denyDirectories: [],
      hidden: [],
      sockets: [],
    },
  };
  return sandbox.launch(view, { argv: ['/bin/bash', '-c', script], cwd: directory, env: {}, network: 'none' });
}

const READY = `echo '{"ready":true}'`;

describe('connectWorker', () => {
  it('matches answers to requests by id, in any order', async () => {
    const worker = await start(
      `${READY}; read a; read b; echo '{"id":2,"answer":{"paths":["b"]}}'; echo '{"id":1,"failure":"no"}'; read c`,
    );
    const client = await connectWorker(worker, 5000);
    const first = client.request({ op: 'list' });
    const second = client.request({ op: 'list' });
    await expect(first).rejects.toThrow('no');
    await expect(second).resolves.toEqual({ paths: ['b'] });
    await client.end();
  });

  it.each(['garbage', '[', '7', 'null'])('takes a worker that says %j for gone, and lives on', async (garbage) => {
    const client = await connectWorker(await start(`${READY}; read a; echo '${garbage}'; sleep 20`), 5000);
    await expect(client.request({ op: 'list' })).rejects.toMatchObject({ code: 'failed' });
    await expect(client.request({ op: 'list' })).rejects.toMatchObject({ code: 'failed' });
  });

  it('says why a worker never got ready', async () => {
    await expect(connectWorker(await start('echo why not >&2; exit 1'), 5000)).rejects.toThrow(/why not/);
    await expect(connectWorker(await start('sleep 20'), 200)).rejects.toThrow(/not ready after 0.2 s/);
  });

  it('rejects what is pending when the worker dies', async () => {
    const client = await connectWorker(await start(`${READY}; read a; kill -9 $$`), 5000);
    await expect(client.request({ op: 'list' })).rejects.toMatchObject({ code: 'failed' });
  });
});
