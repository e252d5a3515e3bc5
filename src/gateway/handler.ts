import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { messageOf } from '../domain/errors.ts';
import type { Clock, RandomText } from '../domain/ids.ts';
import { type Answer, sendAnswer, unknownKey } from './answers.ts';
import { serveTokenCount } from './count-tokens.ts';
import { keyOf, refuseAtEntrance, refuseContentType } from './entrance.ts';
import type { GatewayLog } from './gateway-log.ts';
import type { KeyRing } from './key-ring.ts';
import type { LiveCalls } from './live-calls.ts';
import { sendModels } from './local-answers.ts';
import { DIALECTS } from './protocols/dialects.ts';
import { redact } from './redact.ts';
import { type Route, routeOf } from './routes.ts';
import { serveCall } from './serve-call.ts';
import type { ServeParts } from './serve-parts.ts';

export interface HandlerParts {
  readonly serve: ServeParts;
  readonly keys: KeyRing;
  readonly live: LiveCalls;
  readonly random: RandomText;
  readonly clock: Clock;
  readonly log: GatewayLog;
  port(): number;
}

/** Answers one request; never rejects. The order of the checks is the order of trust: entrance, endpoint, key, body. */
export async function handleRequest(
  parts: HandlerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = `gw_${parts.random(16)}`;
  const [pathname = '', query] = (request.url ?? '').split(/\?(.*)/s);
  const refused = refuseAtEntrance(request, parts.port());
  if (refused !== undefined) return sendAnswer(response, requestId, refused);
  const route = routeOf(request.method, pathname);
  if (route === undefined) return sendAnswer(response, requestId, unknownEndpoint(request.method, pathname));
  const virtualKey = keyOf(request) ?? '';
  const grant = parts.keys.find(virtualKey);
  if (grant === undefined) {
    const event = { at: parts.clock.now(), type: 'key-refused', data: { endpoint: pathname } };
    await parts.serve.journal.commit([], [event]).catch(() => undefined);
    return sendAnswer(response, requestId, unknownKey());
  }
  if (route.kind === 'models') return sendModels(response, grant);
  const wrongType = refuseContentType(request);
  if (wrongType !== undefined) return sendAnswer(response, requestId, wrongType);

  const live = parts.live.begin(grant.agent);
  response.on('close', () => {
    if (!response.writableFinished) live.end('client-gone');
  });
  try {
    const search = query === undefined ? '' : `?${query}`;
    const { path, protocol } = route;
    const base = { request, response, requestId, grant, virtualKey, path, search };
    await serverOf(route)(parts.serve, { ...base, dialect: DIALECTS[protocol], signal: live.signal });
  } catch (error) {
    // A client that leaves while it sends is no failure of ours.
    if (!live.signal.aborted) {
      const text = redact(messageOf(error), [grant.key, virtualKey]);
      parts.log.warn({ request: requestId, error: text }, 'a call failed inside the gateway');
    }
    sendAnswer(response, requestId, internalFailure());
  } finally {
    live.finish();
  }
}

/** No protocol is switched to here; web sockets would pass the checks of web pages. */
export function refuseUpgrade(socket: Duplex): void {
  socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
}

function serverOf(route: Exclude<Route, { kind: 'models' }>): typeof serveCall {
  switch (route.kind) {
    case 'call':
      return serveCall;
    case 'count-tokens':
      return serveTokenCount;
  }
}

function unknownEndpoint(method: string | undefined, pathname: string): Answer {
  const message = `There is no ${method} ${pathname.slice(0, 100)} here. Metered endpoints: POST /v1/messages, /v1/messages/count_tokens, /v1/chat/completions, /v1/responses; GET /v1/models.`;
  return { status: 404, type: 'not_found_error', code: 'not_found', message };
}

function internalFailure(): Answer {
  const message = 'The gateway failed on this request; see "orchestrator logs".';
  return { status: 500, type: 'api_error', code: 'gateway_failed', message };
}
