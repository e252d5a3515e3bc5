import Anthropic from '@anthropic-ai/sdk';
import { OrchestratorError } from '../../../domain/errors.ts';
import { NO_USAGE, type Usage } from '../../../domain/usage.ts';
import type { ToolCall } from '../../runner.ts';
import { anthropicRequest } from './anthropic-request.ts';
import { cutByCap, parseArguments } from './call-input.ts';
import { callModel } from './call-model.ts';
import { readEvent } from './foreign-event.ts';
import type { Model, ModelAnswer, ModelRequest, ModelSettings } from './model.ts';

export function anthropicModel(settings: ModelSettings): Model {
  const client = new Anthropic({
    baseURL: settings.url,
    apiKey: settings.key,
    maxRetries: 0,
    timeout: settings.timeoutMs,
    logLevel: 'off',
  });
  return {
    complete: callModel(settings, (current, request) => ask(client, current, request)),
    textOf: (assistant) => blockTexts(assistant as readonly Block[]),
  };
}

async function ask(client: Anthropic, settings: ModelSettings, request: ModelRequest): Promise<ModelAnswer> {
  const message = newMessage();
  const stream = await client.messages.create(anthropicRequest(settings, request), { signal: request.signal });
  for await (const event of stream) readEvent(settings, () => addEvent(message, event));
  if (request.signal.aborted) return { kind: 'interrupted' };
  if (!message.stopped) {
    throw new OrchestratorError(
      'failed',
      `The answer of the model ${settings.id} broke off before its end; the turn was not carried out; \`orchestrator retry\` does the step again`,
    );
  }
  return finished(message, settings);
}

type Block = Anthropic.ContentBlock;

/** The message under construction. Blocks are kept as they came, since signed thinking has to go back unchanged. */
interface PartialMessage {
  readonly blocks: Map<number, Block>;
  readonly inputs: Map<number, string>;
  stopReason: string | undefined;
  stopped: boolean;
  usage: Usage;
}

function newMessage(): PartialMessage {
  return { blocks: new Map(), inputs: new Map(), stopReason: undefined, stopped: false, usage: NO_USAGE };
}

function addEvent(message: PartialMessage, event: Anthropic.RawMessageStreamEvent): void {
  switch (event.type) {
    case 'message_start':
      message.usage = addUsage(message.usage, event.message.usage);
      return;
    case 'content_block_start':
      message.blocks.set(event.index, { ...event.content_block });
      return;
    case 'content_block_delta':
      addDelta(message, event.index, event.delta);
      return;
    case 'content_block_stop':
      return;
    case 'message_delta':
      message.stopReason = event.delta.stop_reason ?? message.stopReason;
      message.usage = addUsage(message.usage, event.usage);
      return;
    case 'message_stop':
      message.stopped = true;
      return;
  }
}

function addDelta(message: PartialMessage, index: number, delta: Anthropic.RawContentBlockDelta): void {
  const block = message.blocks.get(index);
  if (block === undefined) return;
  switch (delta.type) {
    case 'text_delta':
      if (block.type === 'text') block.text += delta.text;
      return;
    case 'thinking_delta':
      if (block.type === 'thinking') block.thinking += delta.thinking;
      return;
    case 'signature_delta':
      if (block.type === 'thinking') block.signature = delta.signature;
      return;
    case 'input_json_delta':
      message.inputs.set(index, (message.inputs.get(index) ?? '') + delta.partial_json);
      return;
    case 'citations_delta':
      if (block.type === 'text') block.citations = [...(block.citations ?? []), delta.citation];
      return;
  }
}

function finished(message: PartialMessage, settings: ModelSettings): ModelAnswer {
  if (message.stopReason === 'refusal') {
    return { kind: 'failed', message: `The model ${settings.id} refused to go on (stop reason refusal).` };
  }
  const stop = message.stopReason === 'max_tokens' || message.stopReason === 'model_context_window_exceeded';
  const entries = [...message.blocks].sort(([left], [right]) => left - right);
  const last = entries.at(-1)?.[0];
  const calls: ToolCall[] = [];
  const blocks: Block[] = [];
  for (const [index, block] of entries) {
    if (block.type !== 'tool_use') {
      // Messages refuses a conversation that holds an empty text block.
      if (block.type !== 'text' || block.text !== '') blocks.push(block);
      continue;
    }
    const written = message.inputs.get(index) ?? '';
    const parsed = written === '' ? inputOf(block) : parseArguments(written);
    const input = stop && index === last ? cutByCap(settings.maxOutputTokens) : parsed;
    calls.push({ id: block.id, name: block.name, input });
    blocks.push({ ...block, input: sendable(written, block) });
  }
  return {
    kind: 'answer',
    assistant: blocks,
    text: blockTexts(blocks),
    calls,
    stop: stop ? 'length' : 'end',
    usage: message.usage,
  };
}

function inputOf(block: Anthropic.ToolUseBlock): unknown {
  return block.input ?? {};
}

/** What goes back as the input of a call: it has to be an object, also where the model wrote none. */
function sendable(written: string, block: Anthropic.ToolUseBlock): unknown {
  if (written === '') return inputOf(block);
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

function blockTexts(blocks: readonly Block[]): string {
  return blocks
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('\n');
}

/** Usage in a stream is cumulative; null means unchanged, and some endpoints leave it out. */
function addUsage(before: Usage, now: Anthropic.Usage | Anthropic.MessageDeltaUsage | undefined): Usage {
  if (!now) return before;
  const writes = now.cache_creation_input_tokens ?? before.cacheWrite5m + before.cacheWrite1h;
  const oneHour =
    ('cache_creation' in now ? now.cache_creation?.ephemeral_1h_input_tokens : undefined) ?? before.cacheWrite1h;
  return {
    input: now.input_tokens ?? before.input,
    cacheRead: now.cache_read_input_tokens ?? before.cacheRead,
    cacheWrite5m: Math.max(0, writes - oneHour),
    cacheWrite1h: oneHour,
    output: now.output_tokens ?? before.output,
    reasoning: before.reasoning,
  };
}
