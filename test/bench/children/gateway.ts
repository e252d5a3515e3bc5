import { randomInt } from 'node:crypto';
import path from 'node:path';
import type { AgentId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import { built } from '../built.ts';
import { answerCpu, tell } from './tell.ts';

// The gateway as the daemon starts it, with the ledger in a store of its own.
const [, , upstreamPort = '', directory = ''] = process.argv;
const store = await (await built.store()).openSqliteStore({ path: path.join(directory, 'gateway.db'), nowMs: 1 });
const silent = { info: () => undefined, warn: () => undefined };
const gateway = await (await built.gateway()).startGateway({
  store,
  clock: { now: Date.now },
  random: (length) => Array.from({ length }, () => randomInt(36).toString(36)).join(''),
  prices: (await built.prices()).cataloguePrice,
  socketPath: path.join(directory, 'gateway.sock'),
  log: silent,
  onEvent: () => undefined,
  upstream: {
    baseUrl: `http://127.0.0.1:${upstreamPort}`,
    pathStyle: 'auto',
    retry: { maxAttempts: 3, backoff: 1.8, jitter: 'full', respectRetryAfter: true },
    requestTimeoutMs: 30_000,
    maxInFlightPerKey: 16,
  },
});
const key = gateway.issue({
  agent: 'r-1/T1/coder#1' as AgentId,
  run: 'r-1' as RunId,
  task: 'T1' as TaskId,
  role: 'coder' as RoleName,
  attempt: 1,
  protocol: 'openai-chat',
  model: 'scripted',
  key: 'sk-bench-0123456789',
  cacheReadWeight: 0.1,
  scopes: (day) => [
    { id: 'task:r-1/T1/coder', limit: 1e12, label: 'task' },
    { id: 'run:r-1', limit: 1e12, label: 'run' },
    { id: `day:${day}`, limit: 1e12, label: 'day' },
    { id: `day-role:${day}/coder`, limit: 'unlimited', label: 'day of the role' },
  ],
});
answerCpu(async () => {
  await gateway.stop();
  await store.close();
});
tell({ port: gateway.port, key });
