import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AgentId, RoleName } from '../../../src/domain/ids.ts';
import { ANTHROPIC_ANSWER, json } from './fake-upstream.ts';
import { balance, grantFor, type Harness, MESSAGES, post, startHarness } from './harness.ts';

let harness: Harness;
let key: string;
beforeEach(async () => {
  harness = await startHarness(() => json(200, ANTHROPIC_ANSWER));
  key = harness.gateway.issue(grantFor());
});
afterEach(() => harness.stop());

const statusOf = async (headers: Record<string, string | string[]>, path = '/v1/messages') =>
  (await post(harness.gateway, path, MESSAGES, { key, headers })).status;

test('only its own name, on both doors', async () => {
  const { port, socketPath } = harness.gateway;
  expect(await statusOf({ host: `127.0.0.1:${port}` })).toBe(200);
  expect(await statusOf({ host: `localhost:${port}` })).toBe(200);
  const wrong = ['127.0.0.1', `attacker.example:${port}`, `localhost.:${port}`, `0.0.0.0:${port}`, `[::1]:${port}`];
  for (const host of [...wrong, `LOCALHOST:${port}`, `127.0.0.1:${port + 1}`]) {
    expect(await statusOf({ host }), host).toBeGreaterThanOrEqual(400);
    const overSocket = await post(harness.gateway, '/v1/messages', MESSAGES, { key, headers: { host }, socketPath });
    expect(overSocket.status, host).toBeGreaterThanOrEqual(400);
  }
  expect(harness.upstream.seen).toHaveLength(2);
});

/** A request written by hand, for what a client library would not send. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(harness.gateway.port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (part) => {
      answer += part;
      socket.end();
    });
    socket.on('close', () => resolve(answer.split('\r\n')[0] ?? ''));
    socket.on('error', reject);
  });
}

test('a doubled or missing Host and an upgrade are refused', async () => {
  const host = `Host: 127.0.0.1:${harness.gateway.port}\r\n`;
  const models = (headers: string) => raw(`GET /v1/models HTTP/1.1\r\nx-api-key: ${key}\r\n${headers}\r\n`);
  expect(await models(host)).toBe('HTTP/1.1 200 OK');
  expect(await models(host + host)).toMatch(/ 40[03] /);
  expect(await models(`${host}Host: attacker.example\r\n`)).toMatch(/ 40[03] /);
  expect(await models('')).toMatch(/ 400 /);
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n';
  expect(await models(host + upgrade)).toBe('HTTP/1.1 426 Upgrade Required');
});

test('web pages are refused, whatever they send', async () => {
  expect(await statusOf({ 'sec-fetch-mode': 'cors' })).toBe(200);
  for (const origin of ['null', 'https://attacker.example', `http://127.0.0.1:${harness.gateway.port}`]) {
    expect(await statusOf({ origin }), origin).toBe(403);
  }
  expect(await statusOf({ 'sec-fetch-site': 'none' })).toBe(403);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']) {
    expect(await statusOf({ 'content-type': type }), type).toBe(415);
  }
  expect(await statusOf({ 'content-type': 'Application/JSON; charset=utf-8' })).toBe(200);
  const preflight = await post(harness.gateway, '/v1/messages', '', { key, method: 'OPTIONS' });
  expect(preflight.status).toBe(404);
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  expect(harness.upstream.seen).toHaveLength(2);
});

test('a body that is too large is refused before it is sent', async () => {
  const head = `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${harness.gateway.port}\r\nx-api-key: ${key}\r\n`;
  const type = 'content-type: application/json\r\n';
  expect(await raw(`${head}${type}content-length: 99999999\r\n\r\n`)).toBe('HTTP/1.1 413 Payload Too Large');
  expect(await raw(`${head}${type}content-length: 2\r\n\r\n{}`)).toBe('HTTP/1.1 400 Bad Request');
});

test('endpoints that nobody meters do not exist', async () => {
  for (const path of ['/v1/messages/batches', '/v1/files', '/v1/realtime', '//v1/messages', '/v1/%6dessages', '/']) {
    expect(await statusOf({}, path), path).toBe(404);
  }
  expect(harness.upstream.seen).toHaveLength(0);
});

test('a key works for its agent until it is revoked, and for nobody else', async () => {
  const other = grantFor({ role: 'test' as RoleName });
  const otherKey = harness.gateway.issue(other);
  const with_ = async (value: string) => (await post(harness.gateway, '/v1/messages', MESSAGES, { key: value })).status;
  expect(await with_(key)).toBe(200);
  expect(await with_(otherKey)).toBe(200);
  await harness.gateway.revoke(other.agent);
  expect(await with_(otherKey)).toBe(401);
  expect(await with_(`${key}x`)).toBe(401);
  expect((await post(harness.gateway, '/v1/messages', MESSAGES, {})).status).toBe(401);
  expect(await with_(key)).toBe(200);
  expect(balance(harness.store, 'task:r-1/T1/test').spent).toBe(560);
  expect(harness.events.filter((event) => event.type === 'key-refused')).toHaveLength(3);
  expect(harness.gateway.refusal('r-1/T1/test#1' as AgentId)).toBeUndefined();
});

test('another model than the role’s is refused and recorded', async () => {
  const answer = await post(harness.gateway, '/v1/messages', { ...MESSAGES, model: 'dearer' }, { key });
  expect(answer.status).toBe(400);
  expect(answer.text).toMatch(/may use the model \\"model-a\\" only/);
  expect(harness.events.at(-1)).toMatchObject({ type: 'model-refused', data: { asked: 'dearer' } });
  const twice = '{"model":"model-a","model":"dearer","max_tokens":5}';
  expect((await post(harness.gateway, '/v1/messages', twice, { key })).status).toBe(400);
  expect(harness.upstream.seen).toHaveLength(0);
});
