import { type PlannedAnswer, pieces } from './planned-answer.ts';
import type { Json } from './script-request.ts';

/** The answer to a Chat Completions request that asked for no stream. */
export function chatBody(answer: PlannedAnswer, createdAt: number): Json {
  const toolCalls = answer.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  const message = {
    role: 'assistant',
    content: answer.text === '' ? null : answer.text,
    refusal: null,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  return {
    ...envelope(answer, createdAt, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(answer) }],
    ...(answer.hidesUsage ? {} : { usage: chatUsage(answer) }),
  };
}

/** The same answer as server-sent events; usage is its own last chunk and only when asked for. */
export function chatEvents(answer: PlannedAnswer, createdAt: number, includeUsage: boolean): readonly string[] {
  const head = envelope(answer, createdAt, 'chat.completion.chunk');
  const nothing = includeUsage ? { usage: null } : {};
  const chunk = (delta: Json, finish: string | null): string =>
    event({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...nothing });
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...pieces(answer.text, 40).map((content) => chunk({ content }, null)),
    ...answer.calls.flatMap((call, index) => callDeltas(call, index).map((delta) => chunk(delta, null))),
    chunk({}, finishReason(answer)),
    ...(includeUsage && !answer.hidesUsage ? [event({ ...head, choices: [], usage: chatUsage(answer) })] : []),
    'data: [DONE]\n\n',
  ];
}

export function chatError(status: number, message: string): Json {
  const code = status === 402 ? 'insufficient_quota' : status === 429 ? 'rate_limit_exceeded' : null;
  return { error: { message, type: status >= 500 ? 'server_error' : 'invalid_request_error', param: null, code } };
}

function envelope(answer: PlannedAnswer, createdAt: number, object: string): Json {
  return { id: `chatcmpl-${answer.id}`, object, created: Math.floor(createdAt / 1000), model: answer.model };
}

/** Chat Completions counts the cache's parts inside the prompt. */
function chatUsage({ usage }: PlannedAnswer): Json {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function finishReason(answer: PlannedAnswer): string {
  return { end: 'stop', calls: 'tool_calls', max_tokens: 'length' }[answer.stop];
}

function callDeltas(call: PlannedAnswer['calls'][number], index: number): readonly Json[] {
  const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
  const rest = pieces(call.arguments, 60).map((text) => ({ index, function: { arguments: text } }));
  return [start, ...rest].map((toolCall) => ({ tool_calls: [toolCall] }));
}

function event(data: Json): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
