import { buffer } from 'node:stream/consumers';
import { sendAnswer, upstreamAnswer } from './answers.ts';
import { sendAttempt } from './attempt.ts';
import { clientHeaders, upstreamHeaders } from './headers.ts';
import { readRequest } from './read-request.ts';
import { redact } from './redact.ts';
import { answerEnded, type Incoming, type ServeParts } from './serve-parts.ts';

/** Passes a token count on. It costs nothing and is no request of the ledger; key and model are checked all the same. */
export async function serveTokenCount(parts: ServeParts, incoming: Incoming): Promise<void> {
  const facts = await readRequest(parts, incoming);
  if (facts === undefined) return;
  const release = await parts.limit.acquire(incoming.grant.key, incoming.signal);
  if (release === undefined) return answerEnded(incoming);
  try {
    await passOn(parts, incoming, facts.bytes);
  } finally {
    release();
  }
}

async function passOn(parts: ServeParts, incoming: Incoming, body: Buffer): Promise<void> {
  const { grant, response, requestId, signal } = incoming;
  const secrets = [grant.key, incoming.virtualKey];
  const url = parts.urlOf(incoming.path, incoming.search);
  const headers = upstreamHeaders(incoming.request.headers, incoming.dialect, grant.key);
  const timeouts = { timeoutMs: parts.timeouts.answerMs, idleTimeoutMs: parts.timeouts.idleMs };
  const result = await sendAttempt(parts.upstream.dispatcher, { url, headers, body, ...timeouts }, signal);
  const bytes = result.kind === 'answered' ? await buffer(result.body).catch(() => undefined) : undefined;
  if (result.kind === 'answered' && bytes !== undefined) {
    const answer = Buffer.from(redact(bytes.toString('utf8'), secrets));
    response.writeHead(result.status, { ...clientHeaders(result.headers, secrets), 'content-length': answer.length });
    response.end(answer);
  } else if (signal.aborted) {
    answerEnded(incoming);
  } else {
    const message = `The model endpoint ${url.origin}${url.pathname} gave no token count (${result.kind}).`;
    sendAnswer(response, requestId, upstreamAnswer(502, message));
  }
}
