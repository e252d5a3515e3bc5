import type { Usage } from '../../domain/usage.ts';
import type { Protocol } from '../../policy/policy.ts';
import { type AttemptResult, isTlsFailure } from '../attempt.ts';
import { asObject, asText, type JsonObject, parseObject } from '../json.ts';
import { DIALECTS } from '../protocols/dialects.ts';
import { isOutOfMoney } from '../retry.ts';
import type { Exchange } from './minimal-request.ts';

/** What one exchange of the preflight means. */
export type Diagnosis =
  | { readonly kind: 'works' }
  | { readonly kind: 'dns' | 'refused' | 'tls' | 'unreachable' | 'broken' | 'timeout' | 'aborted' }
  | { readonly kind: 'key' | 'forbidden' | 'money' | 'model' | 'rate' | 'server' | 'request' }
  /** Nothing is served at this URL. */
  | { readonly kind: 'path' }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'html' | 'empty' | 'stream' | 'unreadable' }
  | { readonly kind: 'other-protocol'; readonly actual: Protocol };

export function classify(exchange: Exchange, model: string): Diagnosis {
  const { result } = exchange;
  switch (result.kind) {
    case 'aborted':
    case 'timeout':
      return { kind: result.kind };
    case 'not-sent':
    case 'lost':
      return { kind: connectionKind(result) };
    case 'answered':
      return classifyAnswer(exchange, result, model);
  }
}

/** Whether a model answered, in whatever protocol, and the usage it states: what was billed is charged. */
export function billOf({ result, text }: Exchange): { readonly usage: Usage | undefined } | undefined {
  if (result.kind !== 'answered' || result.status < 200 || result.status > 299) return undefined;
  const body = parseObject(text);
  if (body === undefined) return STREAM.test(text) ? { usage: undefined } : undefined;
  const speaker = speakerOf(body);
  return speaker === undefined ? undefined : { usage: DIALECTS[speaker].usageOf(body) };
}

function connectionKind(result: Extract<AttemptResult, { kind: 'not-sent' | 'lost' }>) {
  const { code } = result;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns';
  if (code === 'ECONNREFUSED') return 'refused';
  if (isTlsFailure(code)) return 'tls';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout';
  return result.kind === 'not-sent' ? 'unreachable' : 'broken';
}

function classifyAnswer(
  exchange: Exchange,
  { status, headers }: Extract<AttemptResult, { kind: 'answered' }>,
  model: string,
): Diagnosis {
  const { text } = exchange;
  const body = parseObject(text);
  if (status >= 300 && status < 400) return { kind: 'redirect', location: asText(headers['location']) ?? '' };
  if (status >= 200 && status < 300) return classifySuccess(exchange, body, model);
  if (status === 401) return { kind: 'key' };
  if (status === 402 || isOutOfMoney(text)) return { kind: 'money' };
  if (status !== 429 && status < 500 && isAboutModel(body, model)) return { kind: 'model' };
  if (status === 403) return { kind: 'forbidden' };
  if (status === 404 || status === 405) return { kind: 'path' };
  if (status === 429) return { kind: 'rate' };
  if (status >= 500) return { kind: 'server' };
  return ENOUGH.test(errorMessage(body)) ? { kind: 'works' } : { kind: 'request' };
}

/** Some models that think first call our small cap an error: then key, URL and model are right. */
const ENOUGH = /max_(completion_|output_)?tokens.*(was|were|is)? ?reached|output limit was reached/i;

function classifySuccess(exchange: Exchange, body: JsonObject | undefined, model: string): Diagnosis {
  const { text, protocol } = exchange;
  if (body !== undefined) {
    const speaker = speakerOf(body, protocol);
    if (speaker === protocol) return { kind: 'works' };
    if (speaker !== undefined) return { kind: 'other-protocol', actual: speaker };
    return classifyError(body, model);
  }
  if (text.trim() === '') return { kind: 'empty' };
  if (/^\s*<(!doctype|html|head|body)/i.test(text)) return { kind: 'html' };
  return STREAM.test(text) ? { kind: 'stream' } : { kind: 'unreadable' };
}

const STREAM = /^\s*(event|data|id):/;

/** Some endpoints answer 200 with an error inside. */
function classifyError(body: JsonObject, model: string): Diagnosis {
  const error = asObject(body['error']);
  const names = `${asText(error?.['type']) ?? ''} ${asText(error?.['code']) ?? ''} ${errorMessage(body)}`;
  if (body['error'] === undefined) return { kind: 'unreadable' };
  if (isOutOfMoney(JSON.stringify(body))) return { kind: 'money' };
  if (isAboutModel(body, model)) return { kind: 'model' };
  if (/authentication|invalid.api.key|unauthori[sz]ed|incorrect api key/i.test(names)) return { kind: 'key' };
  if (/rate.?limit/i.test(names)) return { kind: 'rate' };
  return { kind: 'request' };
}

function speakerOf(body: JsonObject, first: Protocol = 'anthropic'): Protocol | undefined {
  const others = Object.values(DIALECTS).map((dialect) => dialect.protocol);
  return [first, ...others].find((protocol) => DIALECTS[protocol].isAnswer(body));
}

/** A 404 is about the model only when its words say so: a path that is not there is a 404 too. */
function isAboutModel(body: JsonObject | undefined, model: string): boolean {
  const error = asObject(body?.['error']);
  if (asText(error?.['code']) === 'model_not_found') return true;
  const message = errorMessage(body);
  if (message.includes(`model: ${model}`)) return true;
  const missing = /not.found|not exist|unknown|invalid|no such|not (a )?(valid|supported|available)|unsupported/i;
  return /\bmodels?\b/i.test(message) && missing.test(message) && !/api.key|parameter|max_.*tokens/i.test(message);
}

function errorMessage(body: JsonObject | undefined): string {
  const error = body?.['error'];
  return asText(asObject(error)?.['message']) ?? asText(error) ?? asText(body?.['message']) ?? '';
}
