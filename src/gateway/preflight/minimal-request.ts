import type OpenAI from 'openai';
import type { Dispatcher } from 'undici';
import { messageOf } from '../../domain/errors.ts';
import type { Protocol } from '../../policy/policy.ts';
import { type AttemptResult, sendAttempt } from '../attempt.ts';
import { DIALECTS } from '../protocols/dialects.ts';
import { readText } from '../upstream-call.ts';

/** The smallest cap that every protocol takes. */
export const OUTPUT_CAP = 16;
export const PROMPT = 'Answer with the word ok.';

export interface Minimal {
  readonly protocol: Protocol;
  readonly url: URL;
  readonly model: string;
  readonly key: string;
  readonly timeoutMs: number;
}

/** One POST of the preflight with its answer read to the end. */
export interface Exchange {
  readonly url: URL;
  readonly protocol: Protocol;
  readonly result: AttemptResult;
  /** The answer's text; empty when there is none. */
  readonly text: string;
}

/**
 * One request, not streamed, as the vendor's own client builds it and as the gateway sends it: same connections, no
 * redirects, no proxy, nothing out of the environment. The client's own reading of the answer (and whatever it throws
 * over a strange one) is of no interest: the exchange is judged by what came over the wire.
 */
export async function sendMinimal(dispatcher: Dispatcher, minimal: Minimal, signal: AbortSignal): Promise<Exchange> {
  let exchange: Exchange | undefined;
  const fetch = async (_input: unknown, init?: FetchInit): Promise<Response> => {
    exchange = await send(dispatcher, minimal, { headers: new Headers(init?.headers), body: init?.body, signal });
    return asResponse(exchange);
  };
  try {
    await CALLS[minimal.protocol](minimal, fetch);
  } catch (error) {
    if (exchange === undefined) exchange = neverSent(minimal, messageOf(error));
  }
  return exchange ?? neverSent(minimal, 'the client sent nothing');
}

type FetchInit = Pick<RequestInit, 'headers' | 'body'>;
type Fetch = (input: unknown, init?: FetchInit) => Promise<Response>;

/** The clients are loaded for the request: the daemon would take half as long again to start with them. */
const CALLS = {
  async anthropic({ url, key, model }, fetch) {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const options = {
      baseURL: url.origin,
      apiKey: key,
      authToken: null,
      maxRetries: 0,
      logLevel: 'off' as const,
      fetch,
    };
    const messages = [{ role: 'user' as const, content: PROMPT }];
    return new Anthropic(options).messages.create({ model, max_tokens: OUTPUT_CAP, messages });
  },
  async 'openai-chat'({ url, key, model }, fetch) {
    const client = await openai(url, key, fetch);
    const messages = [{ role: 'user' as const, content: PROMPT }];
    return client.chat.completions.create({ model, max_completion_tokens: OUTPUT_CAP, messages });
  },
  async 'openai-responses'({ url, key, model }, fetch) {
    const client = await openai(url, key, fetch);
    return client.responses.create({ model, max_output_tokens: OUTPUT_CAP, input: PROMPT, store: false });
  },
} as const satisfies Record<Protocol, (minimal: Minimal, fetch: Fetch) => Promise<unknown>>;

async function openai(url: URL, apiKey: string, fetch: Fetch): Promise<OpenAI> {
  const { default: OpenAI } = await import('openai');
  const nobody = { adminAPIKey: null, organization: null, project: null };
  return new OpenAI({ baseURL: url.origin, apiKey, ...nobody, maxRetries: 0, logLevel: 'off', fetch });
}

async function send(
  dispatcher: Dispatcher,
  { protocol, url, key, timeoutMs }: Minimal,
  given: { headers: Headers; body: unknown; signal: AbortSignal },
): Promise<Exchange> {
  const version = given.headers.get('anthropic-version');
  const request = {
    url,
    // Both clients add ANTHROPIC_CUSTOM_HEADERS or OPENAI_CUSTOM_HEADERS to theirs.
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'user-agent': given.headers.get('user-agent') ?? 'orchestrator',
      ...(version === null ? {} : { 'anthropic-version': version }),
      ...DIALECTS[protocol].keyHeaders(key),
    },
    body: Buffer.from(String(given.body)),
    timeoutMs,
    idleTimeoutMs: timeoutMs,
  };
  const result = await sendAttempt(dispatcher, request, given.signal);
  return { url, protocol, result, text: result.kind === 'answered' ? await readText(result.body) : '' };
}

/** The client gets something that it can read; an answer that is none becomes an error of its own. */
function asResponse({ result, text }: Exchange): Response {
  if (result.kind !== 'answered' || result.status < 200 || result.status > 599) return Response.error();
  const hasBody = ![204, 205, 304].includes(result.status);
  const headers = { 'content-type': String(result.headers['content-type'] ?? '') };
  return new Response(hasBody ? text : null, { status: result.status, headers });
}

function neverSent({ url, protocol }: Minimal, message: string): Exchange {
  return { url, protocol, result: { kind: 'not-sent', code: '', message }, text: '' };
}
