import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Check } from '../../../src/domain/check.ts';
import type { RoleName } from '../../../src/domain/ids.ts';
import { askRoles } from '../../../src/gateway/preflight/ask-roles.ts';
import { openPreflight } from '../../../src/gateway/preflight/open-preflight.ts';
import type { GlobalPolicy, Protocol, RolePolicy } from '../../../src/policy/policy.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Row, Store } from '../../../src/store/store.ts';
import {
  ANTHROPIC_ANSWER,
  ANTHROPIC_EVENTS,
  destroy,
  events,
  type FakeUpstream,
  html,
  json,
  type Reply,
  type Seen,
  silence,
  startFakeUpstream,
} from './fake-upstream.ts';

const KEY = 'real-key-of-the-coder-9f3kzz42';
const MODEL = 'model-a';
const CHAT_ANSWER = { choices: [{ message: { content: 'ok' } }], usage: { prompt_tokens: 7, completion_tokens: 3 } };
const RESPONSES_ANSWER = { output: [{ type: 'message' }], usage: { input_tokens: 7, output_tokens: 3 } };
const NOT_FOUND = json(404, { detail: 'Not Found' });
const apiError = (type: string, message: string) => ({ type: 'error', error: { type, message } });

let directory: string;
let store: Store;
let upstream: FakeUpstream | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'orch-preflight-'));
  store = await openSqliteStore({ path: join(directory, 'state.db'), nowMs: 1 });
});
afterEach(async () => {
  await upstream?.stop();
  upstream = undefined;
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Setting {
  readonly protocol?: Protocol;
  readonly baseUrl?: (url: string) => string;
  readonly dayTokens?: number;
  readonly timeoutMs?: number;
  readonly nowMs?: number;
  /** The ledger cannot be written. */
  readonly isFull?: boolean;
}

/** What doctor finds out about the coder's model when the endpoint answers like that. */
async function examine(replyOf: (seen: Seen) => Reply, setting: Setting = {}): Promise<readonly Check[]> {
  upstream = await startFakeUpstream((_n, seen) => replyOf(seen));
  const baseUrl = (setting.baseUrl ?? ((url) => url))(upstream.url);
  const global = {
    gateway: { baseUrl, pathStyle: 'auto', requestTimeoutMs: setting.timeoutMs ?? 5000 },
    limits: { dayTokens: setting.dayTokens ?? 'unlimited' },
  } as GlobalPolicy;
  const policy = {
    role: 'coder' as RoleName,
    key: { kind: 'env', name: 'ORCH_KEY_CODER' },
    model: { protocol: setting.protocol ?? 'anthropic', id: MODEL },
    budget: { day: 'unlimited', cacheReadWeight: 0.1 },
  } as RolePolicy;
  const clock = { now: () => setting.nowMs ?? Date.now() };
  const log = { info: () => undefined, warn: () => undefined };
  const ledger = setting.isFull === true ? { ...store, write: () => Promise.reject(new Error('disk full')) } : store;
  const preflight = openPreflight({ store: ledger, clock, random, log, maxInFlightPerKey: 4 });
  try {
    const question = { set: { global }, roles: [policy], variables: new Map([['ORCH_KEY_CODER', KEY]]), clock };
    return await askRoles(preflight, question, new AbortController().signal);
  } finally {
    await preflight.stop();
  }
}

function random(length: number): string {
  return randomBytes(length).toString('hex').slice(0, length);
}

function model(checks: readonly Check[]): Check {
  const check = checks.find(({ name }) => name === 'model coder');
  if (check === undefined) throw new Error(`no model was asked: ${JSON.stringify(checks)}`);
  expect(JSON.stringify(checks)).not.toContain(KEY);
  return check;
}

function theRow(): Row {
  const rows = store.read('calls-for-report', { since: 0 });
  expect(rows).toHaveLength(1);
  expect(store.read('calls-unsettled')).toEqual([]);
  return rows[0] ?? {};
}

test.each<[Protocol, object, string, string]>([
  ['anthropic', ANTHROPIC_ANSWER, '/v1/messages', 'x-api-key'],
  ['openai-chat', CHAT_ANSWER, '/v1/chat/completions', 'authorization'],
  ['openai-responses', RESPONSES_ANSWER, '/v1/responses', 'authorization'],
])('%s: one small request, not streamed, as a row of its role', async (protocol, answer, path, header) => {
  const checks = await examine(() => json(200, answer), { protocol });
  expect(model(checks)).toMatchObject({ ok: true, level: 'ok' });
  expect(checks.map(({ name }) => name)).toEqual(['model coder', 'endpoint clock']);
  expect(upstream?.seen.map(({ url }) => url)).toEqual([path]);
  const [seen] = upstream?.seen ?? [];
  expect(seen?.headers[header]).toContain(KEY);
  const body = JSON.parse(String(seen?.body)) as Record<string, unknown>;
  expect(body['model']).toBe(MODEL);
  expect(body['stream'] ?? false).toBe(false);
  expect(Object.values(body)).toContain(16);
  const usage = protocol === 'anthropic' ? { input: 500, output: 60 } : { input: 7, output: 3 };
  expect(theRow()).toMatchObject({ role: 'coder', run: null, task: null, requests: 1, ...usage, source: 'upstream' });
});

test.each<[string, Reply, Protocol, string, string]>([
  [
    '401',
    json(401, apiError('authentication_error', `no ${KEY}`)),
    'anthropic',
    'does not accept the key …zz42',
    '401',
  ],
  ['402', json(402, apiError('billing_error', 'pay')), 'anthropic', 'out of money', '402'],
  ['403', json(403, apiError('permission_error', 'no')), 'anthropic', 'may not use the model', '403'],
  [
    '429',
    json(429, apiError('rate_limit_error', 'slow'), { 'retry-after': '30' }),
    'anthropic',
    'limits the rate',
    '429',
  ],
  [
    '429 of an empty account',
    json(429, { error: { code: 'insufficient_quota' } }),
    'openai-chat',
    'out of money',
    '429',
  ],
  ['500', json(500, apiError('api_error', 'oops')), 'anthropic', 'the endpoint itself fails', '500'],
  ['a page with 200', html('<!doctype html><p>Welcome'), 'anthropic', 'a web page is served', '200 (text/html)'],
  ['nothing with 200', json(200, ''), 'openai-chat', 'no answer of this protocol', 'an empty body'],
  ['a list with 200', json(200, [1]), 'openai-responses', 'no answer of this protocol', '200'],
  ['an error with 200', json(200, apiError('rate_limit_error', 'slow')), 'openai-chat', 'limits the rate', '200'],
  [
    'chat on the messages path',
    json(200, CHAT_ANSWER),
    'anthropic',
    'shape of chat completions on the messages',
    '200',
  ],
  ['a message on the chat path', json(200, ANTHROPIC_ANSWER), 'openai-chat', 'shape of messages on the chat', '200'],
  ['a stream', events(ANTHROPIC_EVENTS), 'anthropic', 'streams', '200 (text/event-stream'],
  ['a redirect', json(307, '', { location: 'http://127.0.0.1:9/' }), 'anthropic', 'a key does not follow', '307'],
])('%s is one explained finding', async (_name, reply, protocol, cause, symptom) => {
  const check = model(await examine(() => reply, { protocol }));
  expect(check.cause).toContain(cause);
  expect(check.symptom).toContain(symptom);
  expect(check.remedy).not.toBe('');
  expect(JSON.stringify(check)).not.toMatch(/TypeError|undefined|Cannot read/);
  expect(theRow()['requests']).toBe(upstream?.seen.length);
});

test('an answer in the wrong protocol is charged as what it states', async () => {
  await examine(() => json(200, CHAT_ANSWER));
  expect(theRow()).toMatchObject({ input: 7, output: 3, source: 'upstream' });
});

test('refusals cost nothing, and are not repeated', async () => {
  await examine(() => json(503, apiError('api_error', 'busy'), { 'retry-after': '0' }));
  expect(upstream?.seen).toHaveLength(1);
  expect(theRow()).toMatchObject({ requests: 1, work_milli: 0, source: 'error' });
});

test('a model that is not known comes with the list of those that are', async () => {
  const list = { data: [{ id: 'other' }, { id: 'model-b' }] };
  const checks = await examine((seen) =>
    seen.url === '/v1/models' ? json(200, list) : json(404, apiError('not_found_error', `model: ${MODEL}`)),
  );
  expect(model(checks).cause).toBe('the endpoint does not know the model model-a; it has model-b, other');
  expect(theRow()['requests']).toBe(1);
});

test('a URL with nothing behind it: two others are tried and told, then the other protocol', async () => {
  const check = model(await examine(() => NOT_FOUND));
  const { url = '' } = upstream ?? {};
  expect(check.cause).toContain(`nothing is served at ${url}/v1/messages; also tried: `);
  expect(check.cause).toContain(`${url}/anthropic/v1/messages (404) and ${url}/api/v1/messages (404)`);
  expect(theRow()).toMatchObject({ requests: 4, work_milli: 0 });
});

test.each<[string, Protocol, string, object, string]>([
  ['/anthropic/v1/messages', 'anthropic', '/anthropic', ANTHROPIC_ANSWER, 'path_style: raw'],
  ['/api/v1/messages', 'anthropic', '/api', ANTHROPIC_ANSWER, 'path_style: auto'],
  ['/chat/completions', 'openai-chat', '', CHAT_ANSWER, 'path_style: raw'],
])('an endpoint at %s is found and told', async (path, protocol, base, answer, style) => {
  const served = (seen: Seen) => (seen.url === path ? json(200, answer) : NOT_FOUND);
  const check = model(await examine(served, { protocol }));
  expect(check).toMatchObject({ ok: false });
  expect(check.remedy).toBe(
    `set gateway.base_url: ${upstream?.url}${base} and gateway.${style} in policies/global.yaml`,
  );
  expect(Number(theRow()['output'])).toBeGreaterThan(0);
});

test('an endpoint that speaks chat completions only is found and told', async () => {
  const check = model(
    await examine((seen) => (seen.url === '/v1/chat/completions' ? json(200, CHAT_ANSWER) : NOT_FOUND)),
  );
  expect(check.remedy).toContain('set protocol: openai-chat (ORCH_PROTOCOL_CODER=openai-chat in .env');
});

test('field case B30: every way to write the base URL ends at the same place', async () => {
  for (const suffix of ['/api', '/api/', '/api/v1', '/api/v1/chat/completions']) {
    const served = (seen: Seen) => (seen.url === '/api/v1/chat/completions' ? json(200, CHAT_ANSWER) : NOT_FOUND);
    const checks = await examine(served, { protocol: 'openai-chat', baseUrl: (url) => url + suffix });
    expect(model(checks), suffix).toMatchObject({ ok: true });
    await upstream?.stop();
  }
});

test.each<[string, (url: string) => string, string]>([
  ['a closed port', () => 'http://127.0.0.1:1', 'nothing listens at 127.0.0.1:1'],
  ['https:// to a plain port', (url) => url.replace('http:', 'https:'), 'the TLS handshake'],
])('%s: nothing was sent, nothing is charged', async (_name, baseUrl, cause) => {
  const check = model(await examine(() => json(200, ANTHROPIC_ANSWER), { baseUrl }));
  expect(check).toMatchObject({ ok: false, symptom: expect.stringContaining('does not answer') });
  expect(check.cause).toContain(cause);
  expect(theRow()).toMatchObject({ requests: 0, work_milli: 0 });
});

test.each<[string, Reply, string]>([
  ['silence', silence, 'gave no answer within 0.4 s'],
  ['a cut', destroy, 'closed the connection instead of answering'],
])('%s: the endpoint may have worked, so the reservation is charged', async (_name, reply, cause) => {
  const check = model(await examine(() => reply, { timeoutMs: 400 }));
  expect(check.cause).toContain(cause);
  expect(theRow()).toMatchObject({ requests: 0, source: 'unanswered', output: 16 });
});

test('nothing is sent when the budget of the day has no room', async () => {
  const check = model(await examine(() => json(200, ANTHROPIC_ANSWER), { dayTokens: 10 }));
  expect(check).toMatchObject({ level: 'warning', symptom: 'role coder was not asked' });
  expect(upstream?.seen).toEqual([]);
  expect(store.read('calls-for-report', { since: 0 })).toEqual([]);
});

test('nothing is sent when the ledger cannot be written', async () => {
  const check = model(await examine(() => json(200, ANTHROPIC_ANSWER), { isFull: true }));
  expect(check).toMatchObject({ level: 'error', cause: expect.stringContaining('the ledger cannot be written') });
  expect(upstream?.seen).toEqual([]);
});

test("a clock that differs from the endpoint's is told", async () => {
  const checks = await examine(() => json(200, ANTHROPIC_ANSWER), { nowMs: Date.now() + 3_600_000 });
  expect(checks.at(-1)).toMatchObject({ name: 'endpoint clock', level: 'warning', ok: true });
  expect(checks.at(-1)?.symptom).toContain('60 minutes ahead of');
});

test('headers for other clients in the environment do not travel along', async () => {
  const before = { ...process.env };
  process.env['ANTHROPIC_CUSTOM_HEADERS'] = 'x-api-key: sk-decoy-0123456789\nx-decoy: 1';
  process.env['ANTHROPIC_AUTH_TOKEN'] = 'sk-decoy-0123456789';
  process.env['OPENAI_CUSTOM_HEADERS'] = 'authorization: Bearer sk-decoy-0123456789';
  process.env['OPENAI_ORG_ID'] = 'org-decoy';
  try {
    await examine(() => json(200, ANTHROPIC_ANSWER));
    expect(JSON.stringify(upstream?.seen[0]?.headers)).not.toContain('decoy');
    expect(upstream?.seen[0]?.headers['x-api-key']).toBe(KEY);
    await upstream?.stop();
    await examine(() => json(200, CHAT_ANSWER), { protocol: 'openai-chat' });
    expect(JSON.stringify(upstream?.seen[0]?.headers)).not.toContain('decoy');
    expect(upstream?.seen[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  } finally {
    process.env = before;
  }
});
