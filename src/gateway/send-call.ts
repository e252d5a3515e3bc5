import { ledgerDown, sendAnswer } from './answers.ts';
import { deliver } from './delivery.ts';
import type { AgentGrant } from './gateway.ts';
import { clientHeaders, upstreamHeaders } from './headers.ts';
import { eventOrigin, type OpenCall } from './open-call.ts';
import type { Facts } from './read-request.ts';
import { redact } from './redact.ts';
import { bytesToSend } from './request-facts.ts';
import { answerEnded, conversationOf, type Incoming, type ServeParts } from './serve-parts.ts';
import { type AttemptRecord, attemptWrite } from './settlement.ts';
import { nothingSpent, type Spend, spendOfSilence, withLostAttempts } from './spend.ts';
import { callUpstream, type UpstreamResult } from './upstream-call.ts';

/** Sends an admitted call and settles it, once, whatever happens. */
export async function sendAndSettle(
  parts: ServeParts,
  incoming: Incoming,
  facts: Facts,
  call: OpenCall,
): Promise<void> {
  const { dialect, grant, signal, response, requestId } = incoming;
  let attempts: readonly AttemptRecord[] = [];
  let lost = 0;
  const settle = async (spend: Spend): Promise<void> => {
    await parts.settlements.settle(call, withLostAttempts(spend, lost, call.reserved), attempts);
    remember(parts, grant, facts, spend);
  };
  if (signal.aborted || !(await markSent(parts, call))) {
    await settle(nothingSpent('released'));
    return signal.aborted ? answerEnded(incoming) : sendAnswer(response, requestId, ledgerDown());
  }
  const sending = bytesToSend({ bytes: facts.bytes, facts, dialect, outputCap: call.outputCap });
  const url = parts.urlOf(incoming.path, incoming.search);
  const result = await callUpstream(
    parts.upstream,
    {
      url,
      headers: upstreamHeaders(incoming.request.headers, dialect, grant.key),
      body: sending.bytes,
      timeoutMs: parts.timeouts.answerMs,
      idleTimeoutMs: parts.timeouts.idleMs,
    },
    { key: grant.key, signal, onRetry: (attempt) => noteRetry(parts, call, attempt) },
  );
  ({ attempts, lost } = result);
  await finish({ incoming, facts, call, settle, url, hidesUsageChunk: sending.hidesUsageChunk }, result);
}

async function finish(
  context: {
    incoming: Incoming;
    facts: Facts;
    call: OpenCall;
    settle: (spend: Spend) => Promise<void>;
    url: URL;
    hidesUsageChunk: boolean;
  },
  { outcome }: UpstreamResult,
): Promise<void> {
  const { incoming, call, settle, url } = context;
  const { response, requestId, dialect, signal } = incoming;
  const secrets = [incoming.grant.key, incoming.virtualKey];
  switch (outcome.kind) {
    case 'success': {
      const { hidesUsageChunk } = context;
      const wantsStream = context.facts.stream;
      const shared = { response, requestId, dialect, secrets, signal, settle, hidesUsageChunk, wantsStream };
      return deliver(outcome, { ...shared, reserved: call.reserved, url: url.origin + url.pathname });
    }
    case 'refused': {
      await settle(nothingSpent('error'));
      const body = Buffer.from(redact(outcome.text, secrets));
      response.writeHead(outcome.status, { ...clientHeaders(outcome.headers, secrets), 'content-length': body.length });
      response.end(body);
      return;
    }
    case 'failed':
      await settle(outcome.mayHaveWorked ? spendOfSilence(call.reserved) : nothingSpent('error'));
      return sendAnswer(response, requestId, {
        ...outcome.answer,
        message: redact(outcome.answer.message, secrets),
      });
    case 'aborted':
      await settle(outcome.mayHaveWorked ? spendOfSilence(call.reserved) : nothingSpent('error'));
      return answerEnded(incoming);
  }
}

/** Durable before the first upstream byte; false when it could not be written. */
export async function markSent(parts: Pick<ServeParts, 'journal' | 'clock'>, call: OpenCall): Promise<boolean> {
  try {
    const row = { statement: 'call-sent', params: { id: call.id }, expectChanges: 1 };
    const event = { at: parts.clock.now(), type: 'call-sent', ...eventOrigin(call.grant), data: { call: call.id } };
    return (await parts.journal.commit([row], [event])).committed;
  } catch {
    return false;
  }
}

async function noteRetry(parts: ServeParts, call: OpenCall, attempt: AttemptRecord): Promise<void> {
  const data = { call: call.id, attempt: attempt.n, status: attempt.status ?? null, outcome: attempt.outcome };
  const event = { at: attempt.at, type: 'call-retried', ...eventOrigin(call.grant), data };
  // The settlement writes the attempt again if this fails.
  await parts.journal.commit([attemptWrite(call.id, attempt)], [event]).catch(() => undefined);
}

/** What the upstream counted is the base of the conversation's next estimate. */
function remember(parts: ServeParts, grant: AgentGrant, facts: Facts, spend: Spend): void {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h } = spend.usage;
  if (spend.source !== 'upstream' || input + cacheRead + cacheWrite5m + cacheWrite1h === 0) return;
  parts.book.remember(conversationOf(grant, facts), { ...facts.size, usage: spend.usage, at: parts.clock.now() });
}
