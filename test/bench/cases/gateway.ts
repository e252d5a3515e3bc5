import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { type Child, startChild } from '../child.ts';
import { compare, type Row, type Side } from '../measure.ts';

const AT_ONCE = 8;

interface Proxy {
  readonly child: Child;
  readonly port: number;
  readonly key: string;
}

/** CPU time of the proxy's process (all its threads) a call. Wall-clock figures of a busy machine say little. */
export async function gatewayCases(scratch: string, rounds: number): Promise<readonly Row[]> {
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const upstream = await startChild<number>('upstream', []);
  const children: Child[] = [upstream.child];
  try {
    const pipe = await startProxy('pipe', [String(upstream.told)], children);
    const gateway = await startProxy('gateway', [String(upstream.told), scratch], children);
    const rows: Row[] = [];
    for (const kind of ['JSON', 'SSE'] as const) {
      const calls = kind === 'JSON' ? 400 : 100;
      rows.push(
        await compare({
          name: `gateway CPU a ${kind} call`,
          rounds,
          ...(kind === 'JSON' ? { aim: { atMost: 1.3 } } : {}),
          baseline: cpuPerCall('node:http pipe', pipe, { kind, calls }),
          measured: cpuPerCall('gateway with ledger', gateway, { kind, calls }),
        }),
      );
    }
    return rows;
  } finally {
    for (const child of children.toReversed()) await child.stop();
  }
}

async function startProxy(name: string, args: readonly string[], children: Child[]): Promise<Proxy> {
  const { child, told } = await startChild<{ port: number; key: string }>(name, args);
  children.push(child);
  return { child, ...told };
}

function cpuPerCall(what: string, proxy: Proxy, load: { kind: 'JSON' | 'SSE'; calls: number }): Side {
  const body = JSON.stringify({
    model: 'scripted',
    max_tokens: 500,
    stream: load.kind === 'SSE',
    messages: [{ role: 'user', content: 'Please read this. '.repeat(1100) }],
  });
  return {
    what,
    unit: 'µs',
    once: async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
      const before = await proxy.child.ask<number>('cpu');
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let n = 0; n < load.calls / AT_ONCE; n += 1) await post(agent, proxy, body);
        }),
      );
      const used = (await proxy.child.ask<number>('cpu')) - before;
      agent.destroy();
      return used / load.calls;
    },
  };
}

function post(agent: Agent, proxy: Proxy, body: string): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    authorization: `Bearer ${proxy.key}`,
  };
  const options = { host: '127.0.0.1', port: proxy.port, method: 'POST', path: '/v1/chat/completions', agent, headers };
  return new Promise((resolve, reject) => {
    request(options, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200 && bytes > 1000) resolve();
        else reject(new Error(`${options.port} answered ${response.statusCode} with ${bytes} bytes`));
      });
    })
      .on('error', reject)
      .end(body);
  });
}
