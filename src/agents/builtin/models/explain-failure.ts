import { messageOf, OrchestratorError } from '../../../domain/errors.ts';
import type { ModelFailure, ModelSettings } from './model.ts';

/**
 * What a model call that threw means for the step. Both SDKs throw errors with `status` and the parsed body in
 * `error`; the gateway has done the retrying, so nothing is tried again here. Contract of the answers: facts B.1, B.3.
 */
export function explainFailure(error: unknown, settings: ModelSettings, signal: AbortSignal): ModelFailure {
  if (signal.aborted) return { kind: 'interrupted' };
  if (error instanceof OrchestratorError) return { kind: 'failed', message: error.message };
  const details = readError(error);
  if (details.status === 402 || details.codes.some((code) => MONEY.has(code))) {
    return { kind: 'budget', message: details.text };
  }
  return { kind: 'failed', message: explain(details, settings) };
}

/** A 400 that is about the temperature, which the same request without it would not get. */
export function refusesTemperature(error: unknown): boolean {
  const { status, text } = readError(error);
  return status === 400 && /temperature/i.test(text);
}

/** Codes and types that mean "no more money or tokens" whatever the status. */
const MONEY: ReadonlySet<string> = new Set(['insufficient_quota', 'billing_error']);

interface ErrorDetails {
  readonly status: number | undefined;
  readonly codes: readonly string[];
  readonly text: string;
}

function readError(error: unknown): ErrorDetails {
  const thrown = fields(error);
  const body = fields(thrown['error']);
  const inner = fields(body['error']);
  const codes = [thrown, body, inner].flatMap((level) => [level['code'], level['type']]);
  const text = [inner['message'], body['message']].find((message) => typeof message === 'string');
  return {
    status: typeof thrown['status'] === 'number' ? thrown['status'] : undefined,
    codes: codes.filter((code) => typeof code === 'string'),
    text: oneLine(typeof text === 'string' ? text : rootMessage(error)),
  };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** `fetch failed` and `Connection error.` say nothing; the cause below them names the socket error. */
function rootMessage(error: unknown): string {
  let current = error;
  for (let depth = 0; depth < 5; depth += 1) {
    const cause = fields(current)['cause'];
    if (!(cause instanceof Error)) break;
    current = cause;
  }
  const outer = messageOf(error);
  const inner = messageOf(current) || String(fields(current)['code'] ?? '');
  return inner === '' || inner === outer ? outer : `${outer} (${inner})`;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 400 ? line : `${line.slice(0, 400)}…`;
}

function explain({ status, text }: ErrorDetails, { role, id }: ModelSettings): string {
  const doctor = `\`orchestrator doctor --role ${role}\` checks it`;
  if (status === undefined)
    return `The model ${id} gave no complete answer to role ${role}: ${text}; \`orchestrator retry\` does the step again`;
  if (status === 401) return `The model endpoint does not accept the key of role ${role} (401): ${text}; ${doctor}`;
  if (status === 403) return `The key of role ${role} may not use the model ${id} (403): ${text}; ${doctor}`;
  if (status === 404) return `The endpoint has no model ${id}, or the base URL is wrong (404): ${text}; ${doctor}`;
  if (status === 429) return `The endpoint is rate limiting role ${role} (429), also after the retries: ${text}`;
  if (status >= 500) return `The model endpoint failed (${status}), also after the retries: ${text}`;
  return `The model endpoint refused the request of role ${role} to ${id} (${status}): ${text}`;
}
