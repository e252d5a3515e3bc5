import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from './protocols/dialect.ts';
import { redact } from './redact.ts';

/** Everything of the client's headers but what belongs to the connection, its encoding, or its (virtual) key. */
export function upstreamHeaders(
  headers: IncomingHttpHeaders,
  dialect: Dialect,
  key: string,
): Record<string, string | string[]> {
  return {
    ...keep(headers, REQUEST_ONLY),
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    ...dialect.keyHeaders(key),
  };
}

/** The upstream's headers for the client, without cookies and without any trace of a key. */
export function clientHeaders(
  headers: IncomingHttpHeaders,
  secrets: readonly string[],
): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(keep(headers, RESPONSE_ONLY)).map(([name, value]) => [
      name,
      typeof value === 'string' ? redact(value, secrets) : value.map((item) => redact(item, secrets)),
    ]),
  );
}

function keep(headers: IncomingHttpHeaders, dropped: ReadonlySet<string>): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || dropped.has(name) || named.has(name)) continue;
    kept[name] = value;
  }
  return kept;
}

const CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-encoding',
];
const REQUEST_ONLY: ReadonlySet<string> = new Set([
  ...CONNECTION,
  'host',
  'expect',
  'cookie',
  'authorization',
  'x-api-key',
  'accept-encoding',
  'content-type',
]);
const RESPONSE_ONLY: ReadonlySet<string> = new Set([...CONNECTION, 'set-cookie', 'alt-svc']);
