import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import type { AgentGrant, BudgetScope, Gateway } from '../../../src/gateway/gateway.ts';
import { cataloguePrice } from '../../../src/gateway/prices.ts';
import { type GatewayOptions, startGateway } from '../../../src/gateway/start-gateway.ts';
import type { NewEvent } from '../../../src/store/events.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { type FakeUpstream, type Reply, type Seen, startFakeUpstream } from './fake-upstream.ts';

export const REAL_KEY = 'real-key-of-the-coder-9f3kzz42';

export interface Harness {
  readonly store: Store;
  readonly gateway: Gateway;
  readonly upstream: FakeUpstream;
  readonly events: NewEvent[];
  readonly logged: string[];
  stop(): Promise<void>;
}

/** A gateway with a real store in front of a fake model endpoint. */
export async function startHarness(
  replyOf: (n: number, seen: Seen) => Reply,
  changes: Partial<GatewayOptions['upstream']> & { clock?: GatewayOptions['clock'] } = {},
): Promise<Harness> {
  const directory = mkdtempSync(join(tmpdir(), 'orch-gateway-'));
  const store = await openSqliteStore({ path: join(directory, 'state.db'), nowMs: 1 });
  const upstream = await startFakeUpstream(replyOf);
  const events: NewEvent[] = [];
  const logged: string[] = [];
  const log = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const { clock, ...upstreamChanges } = changes;
  const gateway = await startGateway({
    store,
    clock: clock ?? { now: () => Date.now() },
    random: (length) => Array.from({ length }, () => randomInt(36).toString(36)).join(''),
    upstream: {
      baseUrl: upstream.url,
      pathStyle: 'auto',
      retry: { maxAttempts: 3, backoff: 0.01, jitter: 'full', respectRetryAfter: true },
      requestTimeoutMs: 5000,
      maxInFlightPerKey: 4,
      ...upstreamChanges,
    },
    prices: cataloguePrice,
    log: { info: log, warn: log },
    socketPath: join(directory, 'gateway.sock'),
    onEvent: (event) => void events.push(event),
  });
  return {
    store,
    gateway,
    upstream,
    events,
    logged,
    async stop() {
      await gateway.stop();
      await upstream.stop();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function grantFor(changes: Partial<AgentGrant> & { limit?: BudgetScope['limit'] } = {}): AgentGrant {
  const { limit, ...grant } = changes;
  const role = grant.role ?? ('coder' as RoleName);
  return {
    agent: `r-1/T1/${role}#1` as AgentId,
    run: 'r-1' as RunId,
    task: 'T1' as TaskId,
    role,
    attempt: 1,
    protocol: 'anthropic',
    model: 'model-a',
    key: REAL_KEY,
    cacheReadWeight: 0.1,
    scopes: (day) => [
      { id: `task:r-1/T1/${role}`, limit: limit ?? 1_000_000, label: `task T1 of role ${role}` },
      { id: `day:${day}`, limit: 'unlimited', label: 'today' },
    ],
    ...grant,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One POST by a plain client. `stopAfter` ends it when the answer holds that text. */
export function post(
  gateway: Gateway,
  path: string,
  body: object | string | Buffer,
  options: { headers?: Record<string, string | string[]>; key?: string; stopAfter?: string } & RequestOptions = {},
): Promise<Answer> {
  const { headers, key, stopAfter, ...rest } = options;
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const credentials: Record<string, string> = key === undefined ? {} : { 'x-api-key': key };
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port: gateway.port,
      method: 'POST',
      path,
      agent: false,
      headers: { 'content-type': 'application/json', ...credentials, ...headers },
      ...rest,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (stopAfter !== undefined && text.includes(stopAfter)) {
          request.destroy();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        }
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    request.end(bytes);
  });
}

/** Waits, at most five seconds, until no call is in flight in the ledger and its events have been told. */
export async function settled({ store, events }: Pick<Harness, 'store' | 'events'>): Promise<void> {
  const told = () => events.filter((event) => event.type === 'call-settled').length;
  const stored = () => store.read('calls-for-report', { since: 0 }).length;
  for (let turn = 0; turn < 500; turn++) {
    if (store.read('calls-unsettled').length === 0 && told() >= stored()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('calls are still in flight');
}

export function balance(store: Store, scope: string): { spent: number; held: number } {
  const row = store.read('budget-get', { scope })[0];
  return { spent: Number(row?.['spent_milli'] ?? 0) / 1000, held: Number(row?.['held_milli'] ?? 0) / 1000 };
}

export const MESSAGES = {
  model: 'model-a',
  max_tokens: 500,
  messages: [{ role: 'user', content: 'Please say hé. '.repeat(20) }],
};
export const CHAT = { ...MESSAGES, max_tokens: 500 };
