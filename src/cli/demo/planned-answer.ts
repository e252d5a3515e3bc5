import { createHash } from 'node:crypto';
import type { Reply, ReplyCall, ScriptRequest } from './script.ts';

/** A reply with everything decided that goes on the wire. */
export interface PlannedAnswer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly thinking: Reply['thinking'];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly stop: 'end' | 'calls' | 'max_tokens';
  readonly usage: Tokens;
  readonly hidesUsage: boolean;
}

export interface Tokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** Deterministic: the same request and reply give the same ids and the same usage. */
export function planAnswer(request: ScriptRequest, reply: Reply, bodyBytes: number): PlannedAnswer {
  const id = conversationId(request);
  const calls = (reply.toolCalls ?? []).map((call, index) => ({
    id: `${request.protocol === 'anthropic' ? 'toolu' : 'call'}_${id}_${index}`,
    name: call.name,
    arguments: argumentsOf(call),
  }));
  const wanted = reply.usage?.output ?? derivedOutput(reply, calls);
  // A provider never writes more than it was allowed to: the cap holds for scripted usage too.
  const output = Math.min(wanted, request.maxTokens ?? wanted);
  const isCut = reply.stop === 'max_tokens' || output < wanted;
  return {
    id,
    model: request.model,
    text: reply.text ?? '',
    thinking: reply.thinking,
    calls,
    stop: isCut ? 'max_tokens' : calls.length > 0 ? 'calls' : 'end',
    usage: {
      input: reply.usage?.input ?? (reply.usage === undefined ? Math.ceil(bodyBytes / 4) : 0),
      cacheRead: reply.usage?.cacheRead ?? 0,
      cacheWrite: reply.usage?.cacheWrite ?? 0,
      output,
    },
    hidesUsage: reply.hidesUsage === true,
  };
}

/** Cuts a text as a stream would, without splitting a surrogate pair. */
export function pieces(text: string, size: number): readonly string[] {
  const points = [...text];
  const result: string[] = [];
  for (let start = 0; start < points.length; start += size) result.push(points.slice(start, start + size).join(''));
  return result;
}

function conversationId(request: ScriptRequest): string {
  const conversation = JSON.stringify([request.model, request.system, request.messages]);
  return createHash('sha256').update(conversation).digest('hex').slice(0, 16);
}

function argumentsOf(call: ReplyCall): string {
  return call.rawInput ?? JSON.stringify(call.input);
}

function derivedOutput(reply: Reply, calls: readonly { readonly arguments: string }[]): number {
  const parts = [reply.text ?? '', reply.thinking?.text ?? '', ...calls.map((call) => call.arguments)];
  return Math.max(1, Math.ceil(Buffer.byteLength(parts.join('')) / 4));
}
