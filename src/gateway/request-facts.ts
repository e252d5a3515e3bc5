import { createHash } from 'node:crypto';
import type { InputSize } from './estimate.ts';
import { asObject, type JsonObject, parseObject } from './json.ts';
import { measureMedia } from './media.ts';
import type { Dialect } from './protocols/dialect.ts';
import { scanTopLevel, spliceMembers, type TopLevel } from './splice.ts';

/** What the gateway has to know about a request before it may be sent. */
export interface RequestFacts {
  readonly model: string;
  readonly stream: boolean;
  /** The output cap that the client asked for; undefined when it left it out. */
  readonly askedCap: number | undefined;
  readonly thinkingBudget: number;
  /** Answers asked for at once; each may use the whole cap. */
  readonly choices: number;
  /** Which conversation this goes on with: sha256 of the first message without its cache breakpoints. */
  readonly firstMessage: string;
  readonly size: InputSize;
  readonly body: JsonObject;
  readonly topLevel: TopLevel;
}

/** Reads a request; a text that says what is wrong with it when it can't be metered. */
export function readRequestFacts(bytes: Buffer, dialect: Dialect): RequestFacts | { readonly problem: string } {
  const body = parseObject(bytes.toString('utf8'));
  const topLevel = body === undefined ? undefined : scanTopLevel(bytes);
  if (body === undefined || topLevel === undefined) return { problem: 'The body is no JSON object.' };
  const problem = duplicateKey(topLevel) ?? unmeteredInput(body) ?? wrongNumber(body, [...dialect.capFields, 'n']);
  if (problem !== undefined) return { problem };
  if (typeof body['model'] !== 'string') return { problem: 'The body names no model.' };
  const caps = dialect.capFields.flatMap((field) => numberOf(body[field]) ?? []);
  const media = measureMedia(body);
  return {
    model: body['model'],
    stream: body['stream'] === true,
    askedCap: caps.length === 0 ? undefined : Math.max(...caps),
    thinkingBudget: dialect.thinkingBudget(body),
    choices: numberOf(body['n']) ?? 1,
    firstMessage: conversationKey(dialect.firstMessage(body)),
    size: { textBytes: bytes.length - media.encodedBytes, mediaTokens: media.tokens },
    body,
    topLevel,
  };
}

/**
 * The same first message gives the same key, whatever cache breakpoints sit on it: clients move those from turn to turn,
 * and a plain text then becomes a list of blocks or the other way round.
 */
function conversationKey(message: unknown): string {
  const plain = JSON.stringify(message, (key, value: unknown) => {
    if (key === 'cache_control') return undefined;
    return key === 'content' && typeof value === 'string' ? [{ type: 'text', text: value }] : value;
  });
  return createHash('sha256')
    .update(plain ?? '')
    .digest('hex');
}

/** The bytes to send: as they came, except for a cap that had to be set and the usage of a chat stream. */
export function bytesToSend(options: { bytes: Buffer; facts: RequestFacts; dialect: Dialect; outputCap: number }): {
  readonly bytes: Buffer;
  readonly hidesUsageChunk: boolean;
} {
  const { facts, dialect } = options;
  const values = new Map<string, string>();
  for (const field of dialect.capFields) {
    const asked = numberOf(facts.body[field]);
    if (asked !== undefined && asked > options.outputCap) values.set(field, String(options.outputCap));
  }
  if (facts.askedCap === undefined) values.set(dialect.capFields[0], String(options.outputCap));
  const streamOptions = asObject(facts.body['stream_options']);
  const addsUsage = dialect.protocol === 'openai-chat' && facts.stream && streamOptions?.['include_usage'] !== true;
  if (addsUsage) values.set('stream_options', JSON.stringify({ ...streamOptions, include_usage: true }));
  return { bytes: spliceMembers(options.bytes, facts.topLevel, values), hidesUsageChunk: addsUsage };
}

/** Two readers may take different ones of two equal keys: the gateway must judge what the upstream will see. */
function duplicateKey(topLevel: TopLevel): string | undefined {
  const keys = topLevel.members.map((member) => member.key);
  const duplicate = keys.find((key, index) => keys.indexOf(key) !== index);
  return duplicate === undefined ? undefined : `The body has the member "${duplicate}" twice.`;
}

/** Input that is not in the body, and answers that never come back through the gateway, can't be reserved. */
function unmeteredInput(body: JsonObject): string | undefined {
  const field = ['previous_response_id', 'conversation'].find((name) => (body[name] ?? null) !== null);
  if (field !== undefined) return `"${field}" refers to input that the meter cannot see; send the whole conversation.`;
  if (body['background'] === true) return '"background" answers do not pass the meter; leave it out.';
  return undefined;
}

function wrongNumber(body: JsonObject, fields: readonly string[]): string | undefined {
  const wrong = fields.find((field) => (body[field] ?? null) !== null && numberOf(body[field]) === undefined);
  return wrong === undefined ? undefined : `"${wrong}" must be a whole number above zero.`;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
