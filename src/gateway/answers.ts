import type { ServerResponse } from 'node:http';
import { amountText } from '../domain/amount.ts';
import type { AgentGrant, Refusal } from './gateway.ts';
import type { Dialect } from './protocols/dialect.ts';

/** An answer that the gateway gives itself. */
export interface Answer {
  readonly status: number;
  /** The error's type and code, as the clients of both families know them. */
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

/**
 * Sends an error in the shape of both protocol families, told not to be repeated: each client reads its own fields
 * (facts/gateway.md B.3).
 */
export function sendAnswer(response: ServerResponse, requestId: string, answer: Answer): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error = { type: answer.type, code: answer.code, message: answer.message, param: null };
  const body = Buffer.from(JSON.stringify({ type: 'error', error, request_id: requestId }));
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-should-retry': 'false',
    'request-id': requestId,
    'x-request-id': requestId,
  });
  response.end(body);
}

export function budgetAnswer(dialect: Dialect, grant: AgentGrant, refusal: Refusal): Answer {
  const message =
    `Budget reached for role ${grant.role}: ${refusal.label} (${refusal.scope}) ${whyRefused(grant.model, refusal)}. ` +
    `It was not sent. Stop here: a human decides with "orchestrator approve <checkpoint>", and the conversation goes ` +
    `on from this point.`;
  return { status: dialect.refusalStatus, type: 'billing_error', code: 'insufficient_quota', message };
}

function whyRefused(model: string, { unit, used, held, limit, needed, isUnpriced }: Refusal): string {
  const amount = (value: number) => amountText(value, unit);
  if (isUnpriced) return `has a limit of ${amount(limit)}, and nobody knows the price of the model ${model}`;
  const kind = unit === 'tokens' ? ' work tokens' : '';
  return (
    `has used ${amount(used)} and reserved ${amount(held)} of ${amount(limit)}${kind}; ` +
    `this call needs at least ${amount(needed)}`
  );
}

export function badRequest(message: string, status = 400): Answer {
  return { status, type: 'invalid_request_error', code: 'invalid_request', message };
}

export function unknownKey(): Answer {
  const message = 'This key is not, or no longer, valid here. Keys are issued to one agent and end with its step.';
  return { status: 401, type: 'authentication_error', code: 'invalid_api_key', message };
}

export function ledgerDown(): Answer {
  const message =
    'The ledger cannot be written, so nothing is sent to the model. Check disk space and "orchestrator logs".';
  return { status: 503, type: 'api_error', code: 'ledger_unavailable', message };
}

/** What the model endpoint did, when it is not an answer that can be passed on. */
export function upstreamAnswer(status: number, message: string): Answer {
  if (status === 429) return { status, type: 'rate_limit_error', code: 'rate_limit_exceeded', message };
  return { status, type: 'api_error', code: 'upstream_error', message };
}

/** The account behind the real key is out of money; retrying can't help. */
export function upstreamOutOfMoney(message: string): Answer {
  return { status: 429, type: 'rate_limit_error', code: 'insufficient_quota', message };
}

/** An ending before anything was answered: the daemon stops, or the agent's key was revoked. */
export function endedAnswer(message: string): Answer {
  return { status: 503, type: 'api_error', code: 'gateway_ended', message };
}
