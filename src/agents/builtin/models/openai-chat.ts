import OpenAI from 'openai';
import { OrchestratorError } from '../../../domain/errors.ts';
import { NO_USAGE, type Usage } from '../../../domain/usage.ts';
import type { ToolCall } from '../../runner.ts';
import { cutByCap, parseArguments, unusableReason } from './call-input.ts';
import { callModel } from './call-model.ts';
import { readEvent } from './foreign-event.ts';
import type { Model, ModelAnswer, ModelRequest, ModelSettings } from './model.ts';
import { chatRequest } from './openai-chat-request.ts';

export function openaiChatModel(settings: ModelSettings): Model {
  const client = new OpenAI({
    baseURL: `${settings.url}/v1`,
    apiKey: settings.key,
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: settings.timeoutMs,
    logLevel: 'off',
  });
  return {
    complete: callModel(settings, (current, request) => ask(client, current, request)),
    textOf: (assistant) => (assistant as AssistantMessage).content ?? '',
  };
}

/** The message as it goes back. `reasoning_content` is what several endpoints want returned unchanged. */
interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: 'function';
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

interface PartialMessage {
  text: string;
  reasoning: string;
  readonly calls: PartialCall[];
  /** Position in `calls` of the call that a delta's index means now. */
  readonly positions: Map<number, number>;
  finish: string | undefined;
  usage: Usage;
}

async function ask(client: OpenAI, settings: ModelSettings, request: ModelRequest): Promise<ModelAnswer> {
  const message: PartialMessage = {
    text: '',
    reasoning: '',
    calls: [],
    positions: new Map(),
    finish: undefined,
    usage: NO_USAGE,
  };
  const body = chatRequest(settings, request);
  const stream = await client.chat.completions.create(body, { signal: request.signal });
  for await (const chunk of stream) readEvent(settings, () => addChunk(message, chunk));
  if (request.signal.aborted) return { kind: 'interrupted' };
  if (message.finish === undefined) {
    // The SDK ends a cut stream, and a JSON answer to a stream request, without any error (facts B.4).
    throw new OrchestratorError(
      'failed',
      `The answer of the model ${settings.id} broke off before its end; the turn was not carried out; \`orchestrator retry\` does the step again`,
    );
  }
  return finished(message, settings, request.history.length);
}

function addChunk(message: PartialMessage, chunk: OpenAI.ChatCompletionChunk): void {
  if (chunk.usage) message.usage = usageOf(chunk.usage);
  const choice = chunk.choices?.[0];
  if (choice === undefined) return;
  message.text += choice.delta?.content ?? '';
  const reasoning = (choice.delta as { readonly reasoning_content?: unknown } | undefined)?.reasoning_content;
  if (typeof reasoning === 'string') message.reasoning += reasoning;
  for (const delta of choice.delta?.tool_calls ?? []) addCallDelta(message, delta);
  message.finish = choice.finish_reason ?? message.finish;
}

/** Some endpoints give every parallel call index 0: a new id under a known index is a new call. */
function addCallDelta(message: PartialMessage, delta: OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall): void {
  const index = delta.index ?? 0;
  const known = message.calls[message.positions.get(index) ?? -1];
  const isNew = known === undefined || (delta.id !== undefined && delta.id !== '' && delta.id !== known.id);
  const call = isNew ? { id: delta.id ?? '', name: '', arguments: '' } : known;
  if (isNew) {
    message.positions.set(index, message.calls.length);
    message.calls.push(call);
  }
  call.name ||= delta.function?.name ?? '';
  call.arguments += delta.function?.arguments ?? '';
}

function finished(message: PartialMessage, settings: ModelSettings, turnsBefore: number): ModelAnswer {
  if (message.finish === 'content_filter') {
    return { kind: 'failed', message: `The answer of the model ${settings.id} was withheld by its content filter.` };
  }
  const isCut = message.finish === 'length';
  const written = message.calls.map((call, index) => ({ ...call, id: call.id || `call_${turnsBefore}_${index}` }));
  const calls = written.map((call, index): ToolCall => {
    const input = parseArguments(call.arguments);
    const isLast = index === written.length - 1;
    return { id: call.id, name: call.name, input: isCut && isLast ? cutByCap(settings.maxOutputTokens) : input };
  });
  const assistant: AssistantMessage = {
    role: 'assistant',
    content: message.text === '' && calls.length > 0 ? null : message.text,
    ...(message.reasoning === '' ? {} : { reasoning_content: message.reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: written.map(sentBack) }),
  };
  return { kind: 'answer', assistant, text: message.text, calls, stop: isCut ? 'length' : 'end', usage: message.usage };
}

/** Endpoints that parse the conversation refuse it for ever when one call's arguments are no JSON. */
function sentBack(call: PartialCall): NonNullable<AssistantMessage['tool_calls']>[number] {
  const isBroken = unusableReason(parseArguments(call.arguments)) !== undefined || call.arguments === '';
  return { id: call.id, type: 'function', function: { name: call.name, arguments: isBroken ? '{}' : call.arguments } };
}

/** Prompt tokens include the cache's parts here. */
function usageOf(usage: OpenAI.CompletionUsage): Usage {
  const details = usage.prompt_tokens_details as
    | { readonly cached_tokens?: number; readonly cache_write_tokens?: number }
    | undefined;
  const cacheRead = details?.cached_tokens ?? 0;
  const cacheWrite5m = details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, usage.prompt_tokens - cacheRead - cacheWrite5m),
    cacheRead,
    cacheWrite5m,
    cacheWrite1h: 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
