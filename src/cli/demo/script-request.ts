import type { ScriptMessage, ScriptProtocol, ScriptRequest } from './script.ts';

/** Reads a request body of either protocol as what a script sees. */
export function readScriptRequest(protocol: ScriptProtocol, key: string, body: Json): ScriptRequest {
  const raw = records(body['messages']);
  const plain = protocol === 'anthropic' ? raw.map(anthropicMessage) : raw.filter(isConversation).map(chatMessage);
  const messages = joinNeighbours(plain);
  const system = protocol === 'anthropic' ? textOf(body['system']) : chatSystem(raw);
  const first = messages.find((message) => message.role === 'user')?.text ?? '';
  return {
    protocol,
    model: String(body['model'] ?? ''),
    key,
    system,
    messages,
    turn: plain.filter((message) => message.role === 'assistant').length,
    tools: records(body['tools']).map((tool) => String(tool['name'] ?? record(tool['function'])['name'] ?? '')),
    role: /^Role: (\S+)/m.exec(system)?.[1],
    task: /^Task: (\S+)/m.exec(first)?.[1],
    attempt: Number(/^Attempt: (\d+)/m.exec(first)?.[1] ?? 1),
    stream: body['stream'] === true,
    maxTokens: number(body['max_tokens']) ?? number(body['max_completion_tokens']),
    temperature: number(body['temperature']),
  };
}

export type Json = Readonly<Record<string, unknown>>;

export function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function records(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The text of a string or of a list of content blocks. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return records(content)
    .filter((block) => block['type'] === 'text')
    .map((block) => String(block['text'] ?? ''))
    .join('\n');
}

function anthropicMessage(message: Json): ScriptMessage {
  const blocks = records(message['content']);
  return {
    role: message['role'] === 'assistant' ? 'assistant' : 'user',
    text: textOf(message['content']),
    toolCalls: blocks
      .filter((block) => block['type'] === 'tool_use')
      .map((block) => ({ id: String(block['id']), name: String(block['name']), input: block['input'] })),
    toolResults: blocks
      .filter((block) => block['type'] === 'tool_result')
      .map((block) => ({
        id: String(block['tool_use_id']),
        text: textOf(block['content']),
        isError: block['is_error'] === true,
      })),
  };
}

function isConversation(message: Json): boolean {
  return message['role'] !== 'system' && message['role'] !== 'developer';
}

function chatSystem(messages: readonly Json[]): string {
  return messages
    .filter((message) => !isConversation(message))
    .map((message) => textOf(message['content']))
    .join('\n');
}

function chatMessage(message: Json): ScriptMessage {
  const text = textOf(message['content']);
  if (message['role'] === 'tool') {
    const result = { id: String(message['tool_call_id']), text, isError: text.startsWith('Error: ') };
    return { role: 'user', text: '', toolCalls: [], toolResults: [result] };
  }
  const toolCalls = records(message['tool_calls']).map((call) => ({
    id: String(call['id']),
    name: String(record(call['function'])['name']),
    input: parseArguments(record(call['function'])['arguments']),
  }));
  return { role: message['role'] === 'assistant' ? 'assistant' : 'user', text, toolCalls, toolResults: [] };
}

function parseArguments(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return text;
  }
}

function joinNeighbours(messages: readonly ScriptMessage[]): readonly ScriptMessage[] {
  const joined: ScriptMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role !== message.role) joined.push(message);
    else
      joined[joined.length - 1] = {
        role: last.role,
        text: [last.text, message.text].filter((text) => text !== '').join('\n'),
        toolCalls: [...last.toolCalls, ...message.toolCalls],
        toolResults: [...last.toolResults, ...message.toolResults],
      };
  }
  return joined;
}
