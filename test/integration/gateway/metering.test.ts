import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { readReport } from '../../../src/report/read-report.ts';
import {
  ANTHROPIC_ANSWER,
  ANTHROPIC_EVENTS,
  CHAT_DONE,
  CHAT_EVENTS,
  CHAT_USAGE_EVENT,
  events,
  json,
  RESPONSES_EVENTS,
  type Reply,
} from './fake-upstream.ts';
import { balance, CHAT, grantFor, type Harness, MESSAGES, post, REAL_KEY, settled, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

async function started(replyOf: (n: number) => Reply): Promise<{ harness: Harness; key: string }> {
  harness = await startHarness(replyOf);
  return { harness, key: harness.gateway.issue(grantFor()) };
}

test('a Messages stream passes byte for byte and is charged as stated', async () => {
  const { harness, key } = await started(() => events(ANTHROPIC_EVENTS));
  const body =
    ' {"model":"model-a", "max_tokens": 500,"stream":true,"messages":[{"role":"user","content":"\\u00e9é"}]}';
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b', 'x-stainless-retry-count': '0' };
  const answer = await post(harness.gateway, '/v1/messages?beta=true', body, { key, headers });
  expect(answer).toMatchObject({ status: 200, text: ANTHROPIC_EVENTS.join('') });
  expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');

  const [seen] = harness.upstream.seen;
  expect(seen?.url).toBe('/v1/messages?beta=true');
  expect(seen?.body.toString()).toBe(body);
  expect(seen?.headers).toMatchObject({ ...headers, 'x-api-key': REAL_KEY, 'accept-encoding': 'identity' });
  expect(JSON.stringify(seen?.headers)).not.toContain(key);

  const report = readReport(harness.store, { by: 'role' });
  expect(report.rows).toMatchObject([
    { key: 'coder', requests: 1, input: 300, cacheRead: 1000, cacheWrite: 200, output: 40, workTokens: 640 },
  ]);
  expect(report.total).toMatchObject({ usd: null, unpriced: 1, estimated: 0 });
  expect(balance(harness.store, 'task:r-1/T1/coder')).toEqual({ spent: 640, held: 0 });
  const types = harness.events.map((event) => event.type);
  // The fake states more input than so small a body can hold: charged, and said.
  expect(types).toEqual(['call-reserved', 'call-sent', 'call-settled', 'call-over-reserved']);
});

test('a Messages answer in one piece', async () => {
  const { harness, key } = await started(() =>
    json(200, ANTHROPIC_ANSWER, { 'request-id': 'req_1', 'set-cookie': 'a=b' }),
  );
  const answer = await post(harness.gateway, '/v1/messages', MESSAGES, { headers: { authorization: `Bearer ${key}` } });
  expect(answer).toMatchObject({ status: 200, text: JSON.stringify(ANTHROPIC_ANSWER) });
  expect(answer.headers).toMatchObject({ 'request-id': 'req_1' });
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(harness.upstream.seen[0]?.headers.authorization).toBeUndefined();
  expect(readReport(harness.store, { by: 'task' }).rows).toMatchObject([{ key: 'r-1/T1', input: 500, output: 60 }]);
});

test('a chat stream is asked for its usage, and the client that did not ask does not see it', async () => {
  const all = [...CHAT_EVENTS, CHAT_USAGE_EVENT, CHAT_DONE];
  const { harness, key } = await started(() => events(all));
  const headers = { authorization: `Bearer ${key}` };
  const silent = await post(harness.gateway, '/v1/chat/completions', { ...CHAT, stream: true }, { headers });
  expect(silent.text).toBe([...CHAT_EVENTS, CHAT_DONE].join(''));
  const asking = { ...CHAT, stream: true, stream_options: { include_usage: true } };
  expect((await post(harness.gateway, '/chat/completions', asking, { headers })).text).toBe(all.join(''));

  expect(JSON.parse(String(harness.upstream.seen[0]?.body))).toEqual({ ...CHAT, ...asking });
  expect(harness.upstream.seen.map((seen) => seen.url)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
  expect(harness.upstream.seen[1]?.body.toString()).toBe(JSON.stringify(asking));
  expect(harness.upstream.seen[0]?.headers.authorization).toBe(`Bearer ${REAL_KEY}`);
  expect(readReport(harness.store, { by: 'role' }).total).toMatchObject({
    requests: 2,
    input: 600,
    cacheRead: 1000,
    output: 180,
  });
});

test('a Responses stream; the missing cap is put in', async () => {
  const { harness, key } = await started(() => events(RESPONSES_EVENTS));
  const body = { model: 'model-a', stream: true, input: [{ role: 'user', content: 'hi' }] };
  const answer = await post(harness.gateway, '/v1/responses', body, { key });
  expect(answer.text).toBe(RESPONSES_EVENTS.join(''));
  expect(JSON.parse(String(harness.upstream.seen[0]?.body))).toEqual({ ...body, max_output_tokens: 16_384 });
  expect(readReport(harness.store, { by: 'role' }).total).toMatchObject({ input: 600, cacheRead: 100, output: 30 });
});

test('a complete answer without usage is estimated, marked, and never free', async () => {
  const { harness, key } = await started(() => events([...CHAT_EVENTS, CHAT_DONE]));
  await post(harness.gateway, '/v1/chat/completions', { ...CHAT, stream: true }, { key });
  const { total } = readReport(harness.store, { by: 'role' });
  expect(total).toMatchObject({ requests: 1, output: 20 });
  expect(total.input).toBeGreaterThan(100);
  expect(total.estimated).toBe(total.input + total.output);
});

test('compressed requests are metered and passed on, unknown encodings are not', async () => {
  const { harness, key } = await started(() => json(200, ANTHROPIC_ANSWER));
  const zipped = gzipSync(JSON.stringify(MESSAGES));
  const answer = await post(harness.gateway, '/v1/messages', zipped, { key, headers: { 'content-encoding': 'gzip' } });
  expect(answer.status).toBe(200);
  expect(harness.upstream.seen[0]?.body.toString()).toBe(JSON.stringify(MESSAGES));
  const unknown = await post(harness.gateway, '/v1/messages', zipped, { key, headers: { 'content-encoding': 'lzma' } });
  expect(unknown.status).toBe(415);
  const broken = await post(harness.gateway, '/v1/messages', '{}', { key, headers: { 'content-encoding': 'gzip' } });
  expect(broken.status).toBe(400);
  expect(harness.upstream.seen).toHaveLength(1);
});

test('an upstream that compresses all the same is counted and readable', async () => {
  const { harness, key } = await started(() => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(ANTHROPIC_EVENTS.join('')));
  });
  const answer = await post(harness.gateway, '/v1/messages', { ...MESSAGES, stream: true }, { key });
  expect(answer).toMatchObject({ status: 200, text: ANTHROPIC_EVENTS.join('') });
  expect(answer.headers['content-encoding']).toBeUndefined();
  expect(readReport(harness.store, { by: 'role' }).total).toMatchObject({ input: 300, output: 40 });
});

test('token counts pass and are no requests; models are answered here', async () => {
  const { harness, key } = await started(() => json(200, { input_tokens: 77 }));
  const count = await post(harness.gateway, '/v1/messages/count_tokens', MESSAGES, { key });
  expect(count).toMatchObject({ status: 200, text: '{"input_tokens":77}' });
  expect(harness.upstream.seen[0]?.body.toString()).toBe(JSON.stringify(MESSAGES));
  const models = await post(harness.gateway, '/v1/models', '', { key, method: 'GET' });
  expect(JSON.parse(models.text)).toMatchObject({ object: 'list', data: [{ id: 'model-a' }] });
  expect(harness.upstream.seen).toHaveLength(1);
  expect(readReport(harness.store, { by: 'role' }).rows).toEqual([]);
});

test('the Unix socket is the same server, and private', async () => {
  const { harness, key } = await started(() => json(200, ANTHROPIC_ANSWER));
  const { socketPath, port } = harness.gateway;
  const headers = { host: `127.0.0.1:${port}` };
  const answer = await post(harness.gateway, '/v1/messages', MESSAGES, { key, headers, socketPath });
  expect(answer.status).toBe(200);
  const { statSync } = await import('node:fs');
  expect(statSync(socketPath).mode & 0o777).toBe(0o600);
});

test('a priced model shows money', async () => {
  harness = await startHarness(() => json(200, ANTHROPIC_ANSWER));
  const key = harness.gateway.issue(grantFor({ model: 'claude-opus-4-5' }));
  await post(harness.gateway, '/v1/messages', { ...MESSAGES, model: 'claude-opus-4-5' }, { key });
  expect(readReport(harness.store, { by: 'model' }).total).toMatchObject({ usd: 0.004, unpriced: 0 });
});

test('many calls of several roles: the upstream’s books are the report', async () => {
  const books = { requests: 0, input: 0, output: 0 };
  const { harness } = await started((n) => {
    const usage = { input_tokens: 100 + n, output_tokens: 10 + (n % 7) };
    books.requests++;
    if (n % 5 === 3) return json(503, { error: { message: 'busy' } });
    books.input += usage.input_tokens;
    books.output += usage.output_tokens;
    return json(200, { ...ANTHROPIC_ANSWER, usage });
  });
  const keys = ['coder', 'test', 'reviewer'].map((role) => harness.gateway.issue(grantFor({ role: role as never })));
  const calls = Array.from({ length: 60 }, (_, n) =>
    post(harness.gateway, '/v1/messages', MESSAGES, { key: keys[n % 3] ?? '' }),
  );
  await Promise.all(calls);
  await settled(harness);
  expect(readReport(harness.store, { by: 'role' }).total).toMatchObject(books);
  expect(books.requests).toBe(harness.upstream.seen.length);
});
