import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../../../src/api/client.ts';
import { gitStatus } from '../commands.ts';
import { compare, type Row, single } from '../measure.ts';
import type { Stage } from '../stage.ts';

const WAIT_MS = 60_000;
const AUTHOR = { name: 'Ada Example', email: 'ada@example.invalid' };

/** From an answered question to the next model call, and what the daemon holds while four agents work. */
export async function runCases(stage: Stage, rounds: number): Promise<readonly Row[]> {
  const api = await stage.connect();
  try {
    return [await approvals(stage, api, rounds), ...(await memory(stage, api))];
  } finally {
    api.close();
  }
}

function approvals(stage: Stage, api: ApiClient, rounds: number): Promise<Row> {
  return compare({
    name: 'approved → next upstream request',
    rounds,
    aim: { atMost: 5 },
    baseline: gitStatus(stage),
    measured: {
      what: 'plan approved',
      unit: 'ms',
      once: async () => {
        const { run } = await api.run({ request: 'bench with 1 tasks', withWip: false, dryRun: false, author: AUTHOR });
        const id = await planOf(api, run);
        const arrived = stage.nextCoderRequest();
        const from = performance.now();
        await api.approve({ id, by: 'bench' });
        const ms = (await arrived) - from;
        await api.cancel(run);
        return ms;
      },
    },
  });
}

async function memory(stage: Stage, api: ApiClient): Promise<readonly Row[]> {
  const before = stage.coderRequests;
  const { run } = await api.run({ request: 'bench with 4 tasks', withWip: false, dryRun: false, author: AUTHOR });
  await api.approve({ id: await planOf(api, run), by: 'bench' });
  await until(async () => stage.coderRequests - before === 4 || undefined, 'four coders');
  const { daemon } = await api.status();
  const figure = { what: 'VmRSS of the daemon', unit: 'MB', median: await residentMegabytes(daemon.pid) };
  await api.cancel(run);
  return [single({ name: 'daemon RSS, four slots at work', figure, rounds: 1, aim: { atMost: 200 } })];
}

function planOf(api: ApiClient, run: string): Promise<string> {
  return until(async () => (await api.checkpoints(false)).find((one) => one.run === run)?.id, `the plan of ${run}`);
}

async function until<Value>(look: () => Promise<Value | undefined>, what: string): Promise<Value> {
  const deadline = Date.now() + WAIT_MS;
  while (Date.now() < deadline) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error(`${what} did not come within ${WAIT_MS} ms`);
}

async function residentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024;
}
