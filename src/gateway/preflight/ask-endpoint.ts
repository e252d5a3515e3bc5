import type { Dispatcher } from 'undici';
import type { RolePolicy } from '../../policy/policy.ts';
import { asArray, asObject, asText, parseObject } from '../json.ts';
import { DIALECTS } from '../protocols/dialects.ts';
import { readText } from '../upstream-call.ts';
import { type Alternative, alternativesOf, type Endpoint, endpointUrl } from './alternatives.ts';
import { classify, type Diagnosis } from './classify.ts';
import { type Exchange, type Minimal, sendMinimal } from './minimal-request.ts';

export type Question = Omit<Minimal, 'url'> & { readonly endpoint: Endpoint };

/** Whom it was asked for, as far as the explanation tells it. */
export interface Asked {
  readonly policy: RolePolicy;
  readonly model: string;
  readonly key: string;
  readonly timeoutMs: number;
}

/** What was found out about one role's model, over one or more exchanges. */
export interface Findings {
  readonly diagnosis: Diagnosis;
  /** The configured URL first, then what was tried after it. */
  readonly exchanges: readonly [Exchange, ...Exchange[]];
  /** What would work instead of a URL at which nothing is served. */
  readonly works: Alternative | { readonly protocol: Minimal['protocol'] } | undefined;
  /** The endpoint's own list, when the model is not known there. */
  readonly models: readonly string[];
}

/** Asks the endpoint once; where nothing is served, asks at two more places, then in the other protocol. */
export async function askEndpoint(dispatcher: Dispatcher, question: Question, signal: AbortSignal): Promise<Findings> {
  const { endpoint, ...rest } = question;
  const minimal: Minimal = { ...rest, url: endpointUrl(endpoint, rest.protocol) };
  const first = await sendMinimal(dispatcher, minimal, signal);
  const diagnosis = classify(first, minimal.model);
  const found = { diagnosis, exchanges: [first], works: undefined, models: [] } as const;
  if (diagnosis.kind === 'model') return { ...found, models: await listModels(dispatcher, minimal, signal) };
  if (diagnosis.kind !== 'path' && diagnosis.kind !== 'html') return found;
  return { ...found, ...(await lookElsewhere(dispatcher, { first, minimal, endpoint }, signal)) };
}

async function lookElsewhere(
  dispatcher: Dispatcher,
  { first, minimal, endpoint }: { first: Exchange; minimal: Minimal; endpoint: Endpoint },
  signal: AbortSignal,
): Promise<Pick<Findings, 'exchanges' | 'works'>> {
  const exchanges: [Exchange, ...Exchange[]] = [first];
  for (const alternative of alternativesOf(endpoint, minimal.protocol)) {
    const exchange = await sendMinimal(dispatcher, { ...minimal, url: alternative.url }, signal);
    exchanges.push(exchange);
    if (isServed(classify(exchange, minimal.model))) return { exchanges, works: alternative };
  }
  const protocol = minimal.protocol === 'openai-chat' ? 'anthropic' : 'openai-chat';
  const other = await sendMinimal(dispatcher, { ...minimal, protocol, url: endpointUrl(endpoint, protocol) }, signal);
  exchanges.push(other);
  return { exchanges, works: isServed(classify(other, minimal.model)) ? { protocol } : undefined };
}

/** Somebody who speaks the protocol answered there, be it with a refusal. */
function isServed({ kind }: Diagnosis): boolean {
  return ['works', 'key', 'forbidden', 'money', 'model', 'rate', 'request'].includes(kind);
}

/** The ids of GET /v1/models beside the call's URL; empty when the endpoint has no such list. */
async function listModels(dispatcher: Dispatcher, minimal: Minimal, signal: AbortSignal): Promise<readonly string[]> {
  const { url, protocol, key, timeoutMs } = minimal;
  const path = url.pathname.replace(/\/(messages|chat\/completions|responses)$/, '/models');
  const version: Record<string, string> = protocol === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  try {
    const answer = await dispatcher.request({
      origin: url.origin,
      path,
      method: 'GET',
      headers: { accept: 'application/json', ...version, ...DIALECTS[protocol].keyHeaders(key) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const list = asArray(parseObject(await readText(answer.body))?.['data']);
    return list.flatMap((entry) => asText(asObject(entry)?.['id']) ?? []);
  } catch {
    // The list is a help; why it failed adds nothing to what is told about the model.
    return [];
  }
}
