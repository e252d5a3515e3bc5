import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { RoleName } from '../../../src/domain/ids.ts';
import type { AttemptResult } from '../../../src/gateway/attempt.ts';
import { billOf, classify } from '../../../src/gateway/preflight/classify.ts';
import { explainFindings } from '../../../src/gateway/preflight/explain.ts';
import type { Exchange } from '../../../src/gateway/preflight/minimal-request.ts';
import type { Protocol, RolePolicy } from '../../../src/policy/policy.ts';

const KEY = 'sk-unit-0123456789wxyz';
const MODEL = 'model-a';

function answered(
  status: number,
  body: unknown,
  { headers = {}, protocol = 'anthropic' }: { headers?: Record<string, string>; protocol?: Protocol } = {},
): Exchange {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  const result: AttemptResult = {
    kind: 'answered',
    status,
    headers: { 'content-type': type, ...headers },
    body: Readable.from([]),
  };
  return { url: new URL('https://models.test/v1/messages'), protocol, result, text };
}

function broken(result: AttemptResult): Exchange {
  return { url: new URL('https://models.test/v1/messages'), protocol: 'anthropic', result, text: '' };
}

const notSent = (code: string) => broken({ kind: 'not-sent', code, message: `${code} of models.test` });
const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const openai = (code: string, message: string) => ({ error: { code, type: 'invalid_request_error', message } });
const MESSAGE = { content: [{ type: 'text', text: 'ok' }], usage: { input_tokens: 9, output_tokens: 2 } };
const COMPLETION = { choices: [{ message: { content: 'ok' } }], usage: { prompt_tokens: 9, completion_tokens: 2 } };

test.each<[string, Exchange, string]>([
  ['an answer', answered(200, MESSAGE), 'works'],
  ['a name that does not resolve', notSent('ENOTFOUND'), 'dns'],
  ['a resolver that is away', notSent('EAI_AGAIN'), 'dns'],
  ['a closed port', notSent('ECONNREFUSED'), 'refused'],
  ['a host without a route', notSent('EHOSTUNREACH'), 'unreachable'],
  ['a certificate nobody signed', notSent('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
  ['a certificate of the future', notSent('CERT_NOT_YET_VALID'), 'tls'],
  ['https:// to a plain port', notSent('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'],
  ['a connection that does not come about', notSent('UND_ERR_CONNECT_TIMEOUT'), 'timeout'],
  ['silence', broken({ kind: 'timeout' }), 'timeout'],
  ['a cut', broken({ kind: 'lost', code: 'UND_ERR_SOCKET', message: 'other side closed', isQuick: true }), 'broken'],
  ['401', answered(401, error('authentication_error', 'invalid x-api-key')), 'key'],
  ['402', answered(402, error('billing_error', 'pay')), 'money'],
  ['403', answered(403, error('permission_error', 'not for you')), 'forbidden'],
  ['404 without words', answered(404, 'Not Found'), 'path'],
  ['404 of a router', answered(404, { detail: 'Not Found' }), 'path'],
  ['405', answered(405, ''), 'path'],
  ['404 about the model', answered(404, error('not_found_error', `model: ${MODEL}`)), 'model'],
  ['404 about the model, by code', answered(404, openai('model_not_found', 'no')), 'model'],
  ['400 about the model', answered(400, openai('x', `The model \`${MODEL}\` does not exist`)), 'model'],
  [
    '400 about a parameter of a model',
    answered(400, openai('x', 'max_tokens is not supported with this model')),
    'request',
  ],
  ['400 over our small cap', answered(400, openai('x', 'max_tokens or model output limit was reached')), 'works'],
  ['429', answered(429, error('rate_limit_error', 'slow down')), 'rate'],
  ['429 that means money', answered(429, openai('insufficient_quota', 'no quota')), 'money'],
  ['500', answered(500, error('api_error', 'oops')), 'server'],
  ['503 with a page', answered(503, '<html>busy</html>'), 'server'],
  ['529', answered(529, error('overloaded_error', 'overloaded')), 'server'],
  ['a redirect', answered(302, '', { headers: { location: 'https://login.test/' } }), 'redirect'],
  ['a web page', answered(200, '<!DOCTYPE html><html></html>'), 'html'],
  ['nothing', answered(200, ''), 'empty'],
  ['a stream', answered(200, 'event: message_start\ndata: {}\n\n'), 'stream'],
  ['some JSON', answered(200, { hello: 'world' }), 'unreadable'],
  ['a list', answered(200, [1]), 'unreadable'],
  ['chat completions on the messages path', answered(200, COMPLETION), 'other-protocol'],
  ['a message on the chat path', answered(200, MESSAGE, { protocol: 'openai-chat' }), 'other-protocol'],
  ['200 with an error about the key', answered(200, openai('invalid_api_key', 'Incorrect API key')), 'key'],
  ['200 with an error about money', answered(200, openai('insufficient_quota', 'no')), 'money'],
  ['200 with an error about the rate', answered(200, error('rate_limit_error', 'slow')), 'rate'],
  ['200 with any other error', answered(200, { error: 'boom' }), 'request'],
])('%s', (_name, exchange, kind) => {
  const diagnosis = classify(exchange, MODEL);
  expect(diagnosis.kind).toBe(kind);
  const finding = explain(exchange);
  expect(finding === undefined).toBe(kind === 'works');
  if (finding !== undefined) for (const part of Object.values(finding)) expect(part).not.toBe('');
});

test('what a model answered is billed in whatever protocol, what it refused is not', () => {
  expect(billOf(answered(200, COMPLETION))?.usage).toMatchObject({ input: 9, output: 2 });
  expect(billOf(answered(200, MESSAGE))?.usage).toMatchObject({ input: 9, output: 2 });
  expect(billOf(answered(200, { content: [] }))).toEqual({ usage: undefined });
  expect(billOf(answered(200, '<html></html>'))).toBeUndefined();
  expect(billOf(answered(400, MESSAGE))).toBeUndefined();
});

test('a protocol that was mistaken is named with its cure', () => {
  expect(explain(answered(200, COMPLETION))).toMatchObject({
    cause: 'it answers in the shape of chat completions on the messages path',
    remedy: expect.stringContaining('set protocol: openai-chat (ORCH_PROTOCOL_CODER=openai-chat'),
  });
});

test('an endpoint that quotes the key is told without it', () => {
  const finding = explain(answered(401, error('authentication_error', `bad key ${KEY} (Bearer ${KEY})`)));
  expect(finding?.cause).toContain('…wxyz');
  expect(JSON.stringify(finding)).not.toContain(KEY);
  expect(finding?.symptom).toContain('https://models.test/v1/messages answered 401 (application/json): bad key');
});

test('a rate limit is a warning: key and URL are right', () => {
  expect(explain(answered(429, error('rate_limit_error', 'slow down')))?.level).toBe('warning');
  expect(explain(answered(500, error('api_error', 'oops')))?.level).toBe('error');
});

test('the models nearest to the one that is not known come first, at most ten', () => {
  const models = ['zeta', ...Array.from({ length: 12 }, (_, n) => `other-${n}`), 'model-b'];
  const exchange = answered(404, error('not_found_error', `model: ${MODEL}`));
  const findings = { diagnosis: classify(exchange, MODEL), exchanges: [exchange], works: undefined, models } as const;
  const cause = explainFindings(findings, asked())?.cause ?? '';
  expect(cause).toMatch(/does not know the model model-a; it has model-b, /);
  expect(cause).toContain(' and 4 more');
  expect(explain(exchange)?.cause).toContain('the endpoint gives no list of its models');
});

function explain(exchange: Exchange) {
  const diagnosis = classify(exchange, MODEL);
  return explainFindings({ diagnosis, exchanges: [exchange], works: undefined, models: [] }, asked());
}

function asked() {
  const policy = {
    role: 'coder' as RoleName,
    key: { kind: 'env', name: 'ORCH_KEY_CODER' },
    model: { protocol: 'anthropic', id: MODEL },
  } as RolePolicy;
  return { policy, model: MODEL, key: KEY, timeoutMs: 1000 };
}
