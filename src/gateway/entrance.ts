import type { IncomingMessage } from 'node:http';
import { type Answer, badRequest } from './answers.ts';

/**
 * What a request must be before anything of it is looked at: addressed to this server by its own name, and not sent by
 * a web page (no CORS here: any Origin or Sec-Fetch-Site is refused). Undefined when it may pass.
 */
export function refuseAtEntrance(request: IncomingMessage, port: number): Answer | undefined {
  const hosts = rawValues(request, 'host');
  if (hosts.length !== 1 || !allowedHosts(port).includes(hosts[0] ?? '')) {
    return forbidden(`This server answers only to ${allowedHosts(port).join(' and ')}.`);
  }
  if (rawValues(request, 'origin').length > 0 || rawValues(request, 'sec-fetch-site').length > 0) {
    return forbidden('Requests of web pages are refused.');
  }
  return undefined;
}

/** Only JSON bodies; a form post from a page can't claim that without asking first. */
export function refuseContentType(request: IncomingMessage): Answer | undefined {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return undefined;
  return badRequest('The content type must be application/json.', 415);
}

/** The virtual key, by either of the two headers that clients use. */
export function keyOf(request: IncomingMessage): string | undefined {
  const direct = request.headers['x-api-key'];
  if (typeof direct === 'string' && direct !== '') return direct;
  return /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

function allowedHosts(port: number): readonly [string, string] {
  return [`127.0.0.1:${port}`, `localhost:${port}`];
}

function rawValues(request: IncomingMessage, name: string): string[] {
  const raw = request.rawHeaders;
  return raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
}

function forbidden(message: string): Answer {
  return { status: 403, type: 'permission_error', code: 'forbidden', message };
}
