import { afterEach, describe, expect, test } from 'vitest';
import { readReport } from '../../../src/report/read-report.ts';
import {
  ANTHROPIC_ANSWER,
  ANTHROPIC_EVENTS,
  CHAT_EVENTS,
  CHAT_USAGE_EVENT,
  destroy,
  events,
  html,
  json,
  RESPONSES_EVENTS,
  type Reply,
  silence,
} from './fake-upstream.ts';
import { balance, grantFor, type Harness, MESSAGES, post, REAL_KEY, settled, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

async function started(
  replyOf: (n: number) => Reply,
  upstream: Parameters<typeof startHarness>[1] = {},
): Promise<{ harness: Harness; key: string }> {
  harness = await startHarness(replyOf, upstream);
  return { harness, key: harness.gateway.issue(grantFor()) };
}
const total = (from: Harness) => readReport(from.store, { by: 'role' }).total;
const source = (from: Harness) => from.store.read('calls-for-report', { since: 0 }).map((row) => row['source']);
const attemptsOf = (from: Harness) =>
  from.events.filter((event) => event.type === 'call-retried').map((event) => event.data['status']);

/** Invariants of every ending: one settlement, nothing held, nothing left in flight. */
async function expectSettledOnce(from: Harness): Promise<void> {
  await settled(from);
  expect(from.events.filter((event) => event.type === 'call-settled')).toHaveLength(1);
  expect(balance(from.store, 'task:r-1/T1/coder')).toEqual({ spent: total(from).workTokens, held: 0 });
}

describe('the client leaves', () => {
  test.each(ANTHROPIC_EVENTS.slice(0, -1).map((_, index) => index))('after Messages event %i', async (index) => {
    const { harness, key } = await started(() => events(ANTHROPIC_EVENTS.slice(0, index + 1), 'hang'));
    const last = ANTHROPIC_EVENTS[index] ?? '';
    await post(harness.gateway, '/v1/messages', { ...MESSAGES, stream: true }, { key, stopAfter: last });
    await expectSettledOnce(harness);
    expect(harness.upstream.aborted()).toBe(1);
    // 22 bytes of text are 10 tokens; event 2 brings 44 bytes, event 3 22 more, event 5 states the output.
    const output = [1, 1, 20, 30, 30, 40][index];
    expect(total(harness)).toMatchObject({ requests: 1, input: 300, cacheRead: 1000, cacheWrite: 200, output });
    expect(source(harness)).toEqual([index < 5 ? 'partial' : 'upstream']);
  });

  test.each([0, 1, 2])('after chat event %i', async (index) => {
    const { harness, key } = await started(() => events(CHAT_EVENTS.slice(0, index + 1), 'hang'));
    const stopAfter = CHAT_EVENTS[index] ?? '';
    await post(harness.gateway, '/v1/chat/completions', { ...MESSAGES, stream: true }, { key, stopAfter });
    await expectSettledOnce(harness);
    expect(total(harness).output).toBe([10, 20, 20][index]);
    expect(total(harness).estimated).toBe(total(harness).input + total(harness).output);
  });

  test('before any answer: charged in full, since the upstream may have worked', async () => {
    const { harness, key } = await started(() => silence);
    const client = new AbortController();
    const call = post(harness.gateway, '/v1/messages', MESSAGES, { key, signal: client.signal });
    for (let n = 0; n < 500 && harness.upstream.seen.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
    client.abort();
    await expect(call).rejects.toThrow();
    await expectSettledOnce(harness);
    expect(total(harness)).toMatchObject({ requests: 0, output: 500 });
    expect(source(harness)).toEqual(['unanswered']);
  });
});

describe('the upstream breaks', () => {
  test.each([
    ['/v1/messages', ANTHROPIC_EVENTS.slice(0, 3), /event: error\ndata: \{"type":"error","error":\{"type":"api_error"/],
    ['/v1/chat/completions', CHAT_EVENTS.slice(0, 2), /data: \{"error":\{"message":"The stream of .* broke off/],
    ['/v1/responses', RESPONSES_EVENTS.slice(0, 2), /event: response\.failed\ndata: .*"status":"failed"/],
  ])('%s: a cut stream ends in the protocol’s own error, without the torn event', async (path, seen, error) => {
    const torn = 'data: {"torn":';
    const { harness, key } = await started(() => events([...seen, torn], 'cut'));
    const answer = await post(harness.gateway, path, { ...MESSAGES, input: 'x', stream: true }, { key });
    expect(answer.text.startsWith(seen.join(''))).toBe(true);
    expect(answer.text.slice(seen.join('').length)).toMatch(error);
    expect(answer.text).not.toContain('torn');
    await expectSettledOnce(harness);
    expect(total(harness).estimated).toBeGreaterThan(0);
  });

  test('a stream that just ends without its end marker is cut too; one that has stopped is not', async () => {
    const { harness, key } = await started((n) =>
      n === 0 ? events(ANTHROPIC_EVENTS.slice(0, 4)) : events([...CHAT_EVENTS, CHAT_USAGE_EVENT]),
    );
    const cut = await post(harness.gateway, '/v1/messages', { ...MESSAGES, stream: true }, { key });
    expect(cut.text).toMatch(/event: error/);
    const complete = await post(harness.gateway, '/v1/chat/completions', { ...MESSAGES, stream: true }, { key });
    expect(complete.text).toBe(CHAT_EVENTS.join(''));
    expect(source(harness)).toEqual(['partial', 'upstream']);
  });

  test('an error event of the upstream is passed on and not doubled', async () => {
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    const { harness, key } = await started(() => events([...ANTHROPIC_EVENTS.slice(0, 1), error]));
    const answer = await post(harness.gateway, '/v1/messages', { ...MESSAGES, stream: true }, { key });
    expect(answer.text).toBe((ANTHROPIC_EVENTS[0] ?? '') + error);
    await expectSettledOnce(harness);
    expect(total(harness)).toMatchObject({ input: 300, output: 1 });
  });

  test('silence inside a stream ends it', async () => {
    const { harness, key } = await started(() => events(ANTHROPIC_EVENTS.slice(0, 2), 'hang'), { idleTimeoutMs: 300 });
    const answer = await post(harness.gateway, '/v1/messages', { ...MESSAGES, stream: true }, { key });
    expect(answer.text).toMatch(/event: error/);
    await expectSettledOnce(harness);
  });

  test('no answer in time: one explained answer, no repetition, charged in full', async () => {
    const { harness, key } = await started(() => silence, { requestTimeoutMs: 300 });
    const answer = await post(harness.gateway, '/v1/messages', MESSAGES, { key });
    expect(answer).toMatchObject({ status: 504, headers: { 'x-should-retry': 'false' } });
    expect(answer.text).toContain('within 0.3 s');
    expect(harness.upstream.seen).toHaveLength(1);
    await expectSettledOnce(harness);
    expect(total(harness)).toMatchObject({ requests: 0, output: 500 });
  });
});

describe('retries', () => {
  test('429 and then an answer: one call, two requests, used once', async () => {
    const busy = json(429, { error: { type: 'rate_limit_error', message: 'slow down' } }, { 'retry-after': '0' });
    const { harness, key } = await started((n) => (n === 0 ? busy : json(200, ANTHROPIC_ANSWER)));
    expect((await post(harness.gateway, '/v1/messages', MESSAGES, { key })).status).toBe(200);
    expect(attemptsOf(harness)).toEqual([429]);
    await expectSettledOnce(harness);
    expect(total(harness)).toMatchObject({ requests: 2, input: 500, output: 60, estimated: 0 });
  });

  test('500 three times: one explained answer that is not to be repeated, no tokens', async () => {
    const { harness, key } = await started(() => json(500, { error: { message: `boom for ${REAL_KEY}` } }));
    const answer = await post(harness.gateway, '/v1/chat/completions', MESSAGES, { key });
    expect(answer).toMatchObject({ status: 500, headers: { 'x-should-retry': 'false' } });
    expect(answer.text).toMatch(/answered 500 \(tried 3 times\): boom for \[key …zz42\]/);
    expect(harness.upstream.seen).toHaveLength(3);
    await expectSettledOnce(harness);
    expect(total(harness)).toMatchObject({ requests: 3, workTokens: 0, usd: 0, unpriced: 0 });
  });

  test('an empty account and a long wait are not repeated', async () => {
    const { harness, key } = await started((n) =>
      n === 0
        ? json(429, { error: { code: 'insufficient_quota', message: 'pay first' } })
        : json(503, { error: { message: 'later' } }, { 'retry-after': '3600' }),
    );
    const money = await post(harness.gateway, '/v1/messages', MESSAGES, { key });
    expect(money).toMatchObject({ status: 429, headers: { 'x-should-retry': 'false' } });
    expect(JSON.parse(money.text)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } });
    const later = await post(harness.gateway, '/v1/messages', MESSAGES, { key });
    expect(later.status).toBe(503);
    expect(later.headers['retry-after']).toBeUndefined();
    expect(harness.upstream.seen).toHaveLength(2);
  });

  test('a connection that breaks at once is repeated, its input charged', async () => {
    const { harness, key } = await started((n) => (n === 0 ? destroy : json(200, ANTHROPIC_ANSWER)));
    expect((await post(harness.gateway, '/v1/messages', MESSAGES, { key })).status).toBe(200);
    await expectSettledOnce(harness);
    const sums = total(harness);
    expect(sums).toMatchObject({ requests: 1, output: 60 });
    expect(sums.input).toBe(500 + sums.estimated);
    expect(sums.estimated).toBeGreaterThan(100);
  });

  test('no connection at all: repeated, explained, free', async () => {
    const { harness, key } = await started(() => silence, { baseUrl: 'http://127.0.0.1:9' });
    const answer = await post(harness.gateway, '/v1/messages', MESSAGES, { key });
    expect(answer.status).toBe(502);
    expect(answer.text).toMatch(/127\.0\.0\.1:9\/v1\/messages could not be reached \(tried 3 times\)/);
    await expectSettledOnce(harness);
    expect(total(harness)).toMatchObject({ requests: 0, workTokens: 0 });
  });

  test('a refusal by the upstream is passed on in its own words, without keys', async () => {
    const { harness, key } = await started(() => json(401, { error: { message: `bad key ${REAL_KEY}` } }));
    const answer = await post(harness.gateway, '/v1/messages', MESSAGES, { key });
    expect(answer).toMatchObject({ status: 401, text: '{"error":{"message":"bad key [key …zz42]"}}' });
    expect(harness.upstream.seen).toHaveLength(1);
    await expectSettledOnce(harness);
    expect(total(harness)).toMatchObject({ requests: 1, workTokens: 0 });
  });
});

describe('200, but no answer', () => {
  test.each([
    ['HTML', false, html('<!doctype html><title>Welcome</title>'), /answered 200 with text\/html.*Welcome.*base URL/],
    ['another shape', false, json(200, { hello: 1 }), /where a JSON answer of the anthropic protocol/],
    ['an error', false, json(200, { error: { message: 'no such model' } }), /no such model/],
    ['JSON for a stream', true, json(200, { ok: true }), /where an event stream/],
    ['a stream for JSON', false, events([': hello\n\n']), /where a JSON answer/],
  ])('%s is a 502 that names the URL', async (_, stream, reply, text) => {
    const { harness, key } = await started(() => reply);
    const answer = await post(harness.gateway, '/v1/messages', { ...MESSAGES, stream }, { key });
    expect(answer).toMatchObject({ status: 502, headers: { 'x-should-retry': 'false' } });
    expect(answer.text).toMatch(text);
    expect(answer.text).toContain(`${harness.upstream.url}/v1/messages`);
    await expectSettledOnce(harness);
  });

  test('what an answer of the wrong kind says that it used is charged', async () => {
    const { harness, key } = await started((n) => (n === 0 ? json(200, ANTHROPIC_ANSWER) : events(ANTHROPIC_EVENTS)));
    await post(harness.gateway, '/v1/messages', { ...MESSAGES, stream: true }, { key });
    await post(harness.gateway, '/v1/messages', MESSAGES, { key });
    expect(total(harness)).toMatchObject({ input: 800, output: 100, requests: 2 });
  });
});

test('stop cuts what is in flight, tells the client, and settles it', async () => {
  const { harness: running, key } = await started(() => events(ANTHROPIC_EVENTS.slice(0, 3), 'hang'));
  const call = post(running.gateway, '/v1/messages', { ...MESSAGES, stream: true }, { key });
  for (let n = 0; n < 200 && running.upstream.seen.length === 0; n++) await new Promise((r) => setTimeout(r, 10));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await running.gateway.stop();
  expect((await call).text).toMatch(/event: error\ndata: .*daemon is stopping/);
  expect(running.store.read('calls-unsettled')).toEqual([]);
  expect(total(running)).toMatchObject({ input: 300, output: 20 });
});

test('no key is in the database, the events or the log', async () => {
  const { harness, key } = await started(() => json(500, `<p>${REAL_KEY}</p>`));
  await post(harness.gateway, '/v1/messages', MESSAGES, { key });
  await post(harness.gateway, '/v1/messages', MESSAGES, { key: 'orch-wrong' });
  const written = JSON.stringify([
    harness.store.read('events-after', { after: 0, limit: 1000 }),
    harness.store.read('calls-for-report', { since: 0 }),
    harness.logged,
    harness.events,
  ]);
  expect(written).toContain('call-settled');
  expect(written).not.toContain(REAL_KEY);
  expect(written).not.toContain(key);
});
