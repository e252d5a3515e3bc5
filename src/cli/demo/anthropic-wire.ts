import { type PlannedAnswer, pieces } from './planned-answer.ts';
import { type Json, record } from './script-request.ts';

/** The answer to a Messages request that asked for no stream. */
export function anthropicBody(answer: PlannedAnswer): Json {
  const usage = stated(answer, { ...inputUsage(answer), output_tokens: answer.usage.output });
  return { ...emptyMessage(answer), content: blocks(answer), stop_reason: stopReason(answer), ...usage };
}

/** The same answer as server-sent events. */
export function anthropicEvents(answer: PlannedAnswer): readonly string[] {
  const usage = stated(answer, { ...inputUsage(answer), output_tokens: 1 });
  return [
    event({ type: 'message_start', message: { ...emptyMessage(answer), ...usage } }),
    event({ type: 'ping' }),
    ...blocks(answer).flatMap(blockEvents),
    event({
      type: 'message_delta',
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      ...stated(answer, { output_tokens: answer.usage.output }),
    }),
    event({ type: 'message_stop' }),
  ];
}

export function anthropicError(status: number, message: string): Json {
  return {
    type: 'error',
    error: { type: ERROR_TYPES.get(status) ?? 'api_error', message },
    request_id: 'req_scripted',
  };
}

const ERROR_TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [529, 'overloaded_error'],
]);

function emptyMessage(answer: PlannedAnswer): Json {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function stated(answer: PlannedAnswer, usage: Json): { usage?: Json } {
  return answer.hidesUsage ? {} : { usage };
}

/** Messages counts input without the cache's parts. */
function inputUsage({ usage }: PlannedAnswer): Json {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite, ephemeral_1h_input_tokens: 0 },
  };
}

function stopReason(answer: PlannedAnswer): string {
  return { end: 'end_turn', calls: 'tool_use', max_tokens: 'max_tokens' }[answer.stop];
}

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

function blocks(answer: PlannedAnswer): readonly Block[] {
  const thinking = answer.thinking;
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking: thinking.text, signature: thinking.signature }]),
    ...(answer.text === '' ? [] : [{ type: 'text', text: answer.text }]),
    ...answer.calls.map((call) => ({
      type: 'tool_use',
      id: call.id,
      name: call.name,
      input: parsed(call.arguments),
      [RAW]: call.arguments,
    })),
  ];
}

/** The arguments as scripted; a symbol, so that it never reaches the wire. */
const RAW = Symbol('arguments');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function blockEvents(block: Block, index: number): readonly string[] {
  const deltas = blockDeltas(block).map((delta) => event({ type: 'content_block_delta', index, delta }));
  const start = event({ type: 'content_block_start', index, content_block: emptyBlock(block) });
  return [start, ...deltas, event({ type: 'content_block_stop', index })];
}

function emptyBlock(block: Block): Json {
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (block.type === 'text') return { type: 'text', text: '' };
  return { type: 'tool_use', id: block['id'], name: block['name'], input: {} };
}

function blockDeltas(block: Block): readonly Json[] {
  if (block.type === 'thinking') {
    const texts = pieces(String(block['thinking']), 40).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return [...texts, { type: 'signature_delta', signature: block['signature'] }];
  }
  if (block.type === 'text') return pieces(String(block['text']), 40).map((text) => ({ type: 'text_delta', text }));
  const raw = String((block as { readonly [RAW]?: string })[RAW] ?? '{}');
  return ['', ...pieces(raw, 60)].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}

function event(data: Json): string {
  return `event: ${String(record(data)['type'])}\ndata: ${JSON.stringify(data)}\n\n`;
}
