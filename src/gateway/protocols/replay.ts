import type { Protocol } from '../../policy/policy.ts';
import { asArray, asObject, type JsonObject } from '../json.ts';

/**
 * A whole answer as the stream that was asked for: some compatible endpoints ignore `stream`, and the official clients
 * then see an empty answer that ends well. The parts are the answer's own; nothing is added or left out.
 */
export function replayAsStream(protocol: Protocol, answer: JsonObject): string {
  switch (protocol) {
    case 'anthropic':
      return messagesEvents(answer);
    case 'openai-chat':
      return chatChunks(answer);
    case 'openai-responses':
      return (
        named('response.created', { response: { ...answer, status: 'in_progress', usage: null } }) +
        named('response.completed', { response: answer })
      );
  }
}

function messagesEvents(answer: JsonObject): string {
  const blocks = asArray(answer['content']).map((block, index) => blockEvents(asObject(block) ?? {}, index));
  const { stop_reason = 'end_turn', stop_sequence = null, usage = {} } = answer;
  return [
    named('message_start', { message: { ...answer, content: [], stop_reason: null, stop_sequence: null } }),
    ...blocks,
    named('message_delta', { delta: { stop_reason, stop_sequence }, usage }),
    named('message_stop', {}),
  ].join('');
}

function blockEvents(block: JsonObject, index: number): string {
  const { start, deltas } = splitBlock(block);
  return [
    named('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ].join('');
}

/** Kinds that clients put together from deltas; all others come whole in their start event. */
function splitBlock(block: JsonObject): { start: JsonObject; deltas: readonly JsonObject[] } {
  switch (block['type']) {
    case 'text':
      return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block['text'] }] };
    case 'tool_use':
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input'] ?? {}) }],
      };
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block['thinking'] },
          { type: 'signature_delta', signature: block['signature'] },
        ],
      };
    default:
      return { start: block, deltas: [] };
  }
}

function chatChunks(answer: JsonObject): string {
  const { choices: _choices, usage, ...head } = answer;
  const base = { ...head, object: 'chat.completion.chunk' };
  const choices = asArray(answer['choices']).map((choice) => asObject(choice) ?? {});
  const deltas = choices.map((choice) => ({
    index: choice['index'] ?? 0,
    delta: deltaOf(choice),
    finish_reason: null,
  }));
  const ends = choices.map(({ index = 0, finish_reason = 'stop' }) => ({ index, delta: {}, finish_reason }));
  return [
    data({ ...base, choices: deltas }),
    data({ ...base, choices: ends }),
    ...(usage === undefined ? [] : [data({ ...base, choices: [], usage })]),
    'data: [DONE]\n\n',
  ].join('');
}

function deltaOf(choice: JsonObject): JsonObject {
  const message = asObject(choice['message']) ?? {};
  const calls = asArray(message['tool_calls']).map((call, index) => ({ index, ...asObject(call) }));
  return calls.length === 0 ? message : { ...message, tool_calls: calls };
}

function named(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function data(fields: JsonObject): string {
  return `data: ${JSON.stringify(fields)}\n\n`;
}
