import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../domain/ids.ts';
import type { Admissions } from './admission.ts';
import { endedAnswer, sendAnswer } from './answers.ts';
import type { EstimateBook } from './estimate.ts';
import type { AgentGrant, Refusal } from './gateway.ts';
import type { InFlightLimit } from './in-flight-limit.ts';
import type { Journal } from './journal.ts';
import type { PriceOf } from './prices.ts';
import type { Dialect } from './protocols/dialect.ts';
import type { RequestFacts } from './request-facts.ts';
import type { Settlements } from './settlement.ts';
import type { UpstreamParts } from './upstream-call.ts';

/** What serving a request needs, made once at start. */
export interface ServeParts {
  readonly admissions: Admissions;
  readonly settlements: Settlements;
  readonly limit: InFlightLimit;
  readonly book: EstimateBook;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly prices: PriceOf;
  readonly upstream: UpstreamParts;
  readonly timeouts: { readonly answerMs: number; readonly idleMs: number };
  urlOf(path: string, search: string): URL;
  /** Tells what became of the agent's last call: a refusal, or undefined for none. */
  onAdmission(grant: AgentGrant, refusal: Refusal | undefined): void;
}

export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly grant: AgentGrant;
  /** The virtual key, to be kept out of every text. */
  readonly virtualKey: string;
  readonly dialect: Dialect;
  readonly path: string;
  readonly search: string;
  readonly signal: AbortSignal;
}

/** The answer for a call whose agent or server has ended before anything could be answered. */
export function answerEnded(incoming: Incoming): void {
  const why = incoming.signal.reason === 'revoked' ? 'The key of this agent was revoked.' : 'The daemon is stopping.';
  sendAnswer(incoming.response, incoming.requestId, endedAnswer(`${why} Nothing more is sent.`));
}

/** The key of a conversation's estimates: it outlives single requests and is never shared between agents. */
export function conversationOf(grant: AgentGrant, facts: RequestFacts): string {
  return createHash('sha256').update(`${grant.agent}\n${grant.model}\n${facts.firstMessage}`).digest('hex');
}
