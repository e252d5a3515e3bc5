import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { messageOf } from '../domain/errors.ts';

/** One POST to the upstream, up to the head of its answer. */
export type AttemptResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Readable;
    }
  /** No connection came about: nothing was sent. */
  | { readonly kind: 'not-sent'; readonly message: string; readonly code: string }
  /** The connection broke after sending. `isQuick`: too soon for the upstream to have worked. */
  | { readonly kind: 'lost'; readonly message: string; readonly code: string; readonly isQuick: boolean }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

export interface AttemptRequest {
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
  /** Time until the head of the answer. */
  readonly timeoutMs: number;
  /** Longest silence inside an answer. */
  readonly idleTimeoutMs: number;
}

export async function sendAttempt(
  dispatcher: Dispatcher,
  request: AttemptRequest,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), request.timeoutMs);
  const started = performance.now();
  try {
    const answer = await dispatcher.request({
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: 'POST',
      headers: request.headers,
      body: request.body,
      signal: AbortSignal.any([signal, timeout.signal]),
      headersTimeout: 0,
      bodyTimeout: request.idleTimeoutMs,
    });
    return { kind: 'answered', status: answer.statusCode, headers: answer.headers, body: answer.body };
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted' };
    if (timeout.signal.aborted) return { kind: 'timeout' };
    const message = messageOf(error);
    const code = codeOf(error);
    if (CONNECT_FAILURES.has(code) || isTlsFailure(code)) return { kind: 'not-sent', message, code };
    return { kind: 'lost', message, code, isQuick: performance.now() - started < QUICK_MS };
  } finally {
    clearTimeout(timer);
  }
}

/** A kept-alive connection that the upstream had already closed breaks at once; a cut while it works comes later. */
const QUICK_MS = 5000;

const CONNECT_FAILURES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The handshake failed, so that no request was sent. OpenSSL's verification codes have no common prefix. */
export function isTlsFailure(code: string): boolean {
  return /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$)/.test(code);
}

/** Several addresses tried in vain come as one AggregateError. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && !('code' in error)) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
