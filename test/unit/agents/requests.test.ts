import { describe, expect, test } from 'vitest';
import { anthropicRequest } from '../../../src/agents/builtin/models/anthropic-request.ts';
import { parseArguments, unusableReason } from '../../../src/agents/builtin/models/call-input.ts';
import { chatRequest } from '../../../src/agents/builtin/models/openai-chat-request.ts';
import { turnRecord } from '../../fakes/turn-record.ts';

const settings = {
  url: '',
  key: '',
  id: 'm',
  role: 'coder',
  temperature: undefined,
  maxOutputTokens: 100,
  timeoutMs: 1,
};
const tools = ['read_file', 'finish'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
const signal = new AbortController().signal;
const answered = (id: string, notices: readonly string[] = []) =>
  turnRecord({
    assistant: [{ type: 'tool_use', id, name: 'read_file', input: {} }],
    calls: [{ id, name: 'read_file', input: {} }],
    results: [{ id, text: `result ${id}`, isError: false }],
    notices,
  });
const request = (turns: number) => ({
  system: 'S',
  user: 'U',
  history: Array.from({ length: turns }, (_, index) => answered(`t${index}`)),
  tools,
  signal,
});

/** Where the cache breakpoints are: the text of each marked block. */
function breakpoints(turns: number): readonly string[] {
  const body = anthropicRequest(settings, request(turns));
  const found: string[] = [];
  JSON.stringify(body, (_key, value: unknown) => {
    if (typeof value === 'object' && value !== null && 'cache_control' in value) {
      const block = value as { name?: string; text?: string; content?: string };
      found.push(block.name ?? block.text ?? block.content ?? '?');
    }
    return value;
  });
  return found.toSorted();
}

describe('Messages', () => {
  test('tools, system and the last two user messages are cache breakpoints, never more than four', () => {
    expect(breakpoints(0)).toEqual(['S', 'U', 'finish']);
    expect(breakpoints(1)).toEqual(['S', 'U', 'finish', 'result t0']);
    expect(breakpoints(2)).toEqual(['S', 'finish', 'result t0', 'result t1']);
    expect(breakpoints(9)).toEqual(['S', 'finish', 'result t7', 'result t8']);
  });

  test('only the breakpoints differ in what is sent again', () => {
    const bare = (turns: number): string =>
      JSON.stringify(anthropicRequest(settings, request(turns)).messages, (key, value) =>
        key === 'cache_control' ? undefined : value,
      );
    expect(bare(4).startsWith(bare(3).slice(0, -1))).toBe(true);
  });

  test('empty results and an empty assistant message are made acceptable', () => {
    const empty = turnRecord({ assistant: [] });
    const blank = turnRecord({ assistant: [], results: [{ id: '1', text: '', isError: true }] });
    const body = anthropicRequest(settings, { ...request(0), history: [empty, blank] });
    expect(body.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [{ type: 'text', text: '(no answer)' }] },
      { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
      { role: 'assistant', content: [{ type: 'text', text: '(no answer)' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: '(empty)', is_error: true }] },
    ]);
  });

  test('temperature is sent only when the policy has one', () => {
    expect(anthropicRequest(settings, request(0))).not.toHaveProperty('temperature');
    expect(anthropicRequest({ ...settings, temperature: 0 }, request(0))).toHaveProperty('temperature', 0);
    expect(chatRequest(settings, request(0))).not.toHaveProperty('temperature');
    expect(chatRequest({ ...settings, temperature: 0 }, request(0)).temperature).toBe(0);
  });
});

test('Chat Completions: results, then notices; errors are marked in the text', () => {
  const assistant = { role: 'assistant', content: 'x' };
  const turn = { ...answered('t', ['one', 'two']), assistant, results: [{ id: 't', text: 'no', isError: true }] };
  expect(chatRequest(settings, { ...request(0), history: [turn] }).messages).toEqual([
    { role: 'system', content: 'S' },
    { role: 'user', content: 'U' },
    assistant,
    { role: 'tool', tool_call_id: 't', content: 'Error: no' },
    { role: 'user', content: 'one\n\ntwo' },
  ]);
});

test.each([
  ['{"path":"a"}', { path: 'a' }],
  ['', {}],
  ['  ', {}],
])('arguments %j are taken', (text, input) => {
  expect(parseArguments(text)).toEqual(input);
  expect(unusableReason(parseArguments(text))).toBeUndefined();
});

test.each(['{"path":', '[1]', '"text"', 'null', 'nonsense'])('arguments %j are unusable, with the reason', (text) => {
  expect(unusableReason(parseArguments(text))).toContain(text);
});
