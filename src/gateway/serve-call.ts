import type { AdmissionOutcome, AdmissionRequest } from './admission.ts';
import { budgetAnswer, ledgerDown, sendAnswer } from './answers.ts';
import { estimateInput, expectInput } from './estimate.ts';
import { type Demand, minOutputCap } from './ledger.ts';
import type { OpenCall } from './open-call.ts';
import { dearestPrice } from './prices.ts';
import { type Facts, readRequest } from './read-request.ts';
import { sendAndSettle } from './send-call.ts';
import { answerEnded, conversationOf, type Incoming, type ServeParts } from './serve-parts.ts';

/** Serves one model call from its first byte to its settlement. */
export async function serveCall(parts: ServeParts, incoming: Incoming): Promise<void> {
  const facts = await readRequest(parts, incoming);
  if (facts === undefined) return;
  const release = await parts.limit.acquire(incoming.grant.key, incoming.signal);
  if (release === undefined) return answerEnded(incoming);
  try {
    const call = await admit(parts, incoming, facts);
    if (call !== undefined) await sendAndSettle(parts, incoming, facts, call);
  } finally {
    release();
  }
}

async function admit(parts: ServeParts, incoming: Incoming, facts: Facts): Promise<OpenCall | undefined> {
  const outcome = await tryAdmit(parts, incoming, facts);
  if (outcome === undefined) {
    sendAnswer(incoming.response, incoming.requestId, ledgerDown());
    return undefined;
  }
  switch (outcome.kind) {
    case 'admitted':
      parts.onAdmission(incoming.grant, undefined);
      return outcome.call;
    case 'refused': {
      parts.onAdmission(incoming.grant, outcome.refusal);
      const answer = budgetAnswer(incoming.dialect, incoming.grant, outcome.refusal);
      sendAnswer(incoming.response, incoming.requestId, answer);
      return undefined;
    }
    case 'aborted':
      answerEnded(incoming);
      return undefined;
  }
}

/** Undefined when the ledger can't be written: then nothing may be sent. */
async function tryAdmit(parts: ServeParts, incoming: Incoming, facts: Facts): Promise<AdmissionOutcome | undefined> {
  const demand = demandOf(parts, incoming, facts);
  const protocol = incoming.dialect.protocol;
  const request: AdmissionRequest = { id: incoming.requestId, grant: incoming.grant, protocol, demand };
  try {
    await parts.settlements.flush();
    return await parts.admissions.admit(request, incoming.signal);
  } catch {
    return undefined;
  }
}

function demandOf(parts: ServeParts, incoming: Incoming, facts: Facts): Demand {
  const { grant, dialect } = incoming;
  const outputCap = facts.askedCap ?? grant.maxOutputTokens ?? DEFAULT_OUTPUT_CAP;
  const now = parts.clock.now();
  const expected = { size: facts.size, last: parts.book.last(conversationOf(grant, facts)), now };
  const priced = { model: grant.model, protocol: dialect.protocol, at: now, ...expectInput(expected) };
  return {
    input: estimateInput({ ...expected, cacheReadWeight: grant.cacheReadWeight }),
    outputCap,
    minOutputCap: minOutputCap(outputCap, facts.thinkingBudget),
    choices: facts.choices,
    dearest: (output) => dearestPrice(parts.prices, { ...priced, output }),
  };
}

/** For a client that sends no cap; a bound that every current model takes. */
const DEFAULT_OUTPUT_CAP = 16_384;
