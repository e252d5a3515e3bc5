import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import type { Reply, Script, ScriptRequest } from '../../../src/cli/demo/script.ts';
import { type ScriptedModel, startScriptedModel } from '../../../src/cli/demo/scripted-model.ts';

const started: ScriptedModel[] = [];
afterEach(async () => {
  for (const model of started.splice(0)) await model.stop();
});

async function serve(script: Script | Reply): Promise<ScriptedModel> {
  const model = await startScriptedModel({
    script: typeof script === 'function' ? script : () => script,
    now: () => 1_000,
  });
  started.push(model);
  return model;
}

function anthropic(model: ScriptedModel): Anthropic {
  return new Anthropic({ baseURL: model.url, apiKey: 'key-coder', maxRetries: 0, logLevel: 'off' });
}

function openai(model: ScriptedModel): OpenAI {
  return new OpenAI({ baseURL: `${model.url}/v1`, apiKey: 'key-coder', maxRetries: 0, logLevel: 'off' });
}

const EDIT: Reply = {
  text: 'I change the greeting, in all the places where it is said, and then run the tests.',
  toolCalls: [
    { name: 'edit_file', input: { path: 'src/a.py', old_text: 'hello', new_text: 'grüß dich 👋'.repeat(20) } },
    { name: 'run_command', input: { command: 'python -m pytest' } },
  ],
  usage: { input: 100, output: 30, cacheRead: 40, cacheWrite: 8 },
};
const MESSAGES = {
  model: 'model-coder',
  max_tokens: 1000,
  system: 'Role: coder',
  messages: [{ role: 'user', content: 'Task: T1' }],
} as const;
const CHAT = {
  model: 'model-coder',
  max_completion_tokens: 1000,
  messages: [
    { role: 'system', content: 'Role: coder' },
    { role: 'user', content: 'Task: T1' },
  ],
} as const;
const BOOKED = {
  at: 1_000,
  key: 'key-coder',
  model: 'model-coder',
  status: 200,
  input: 100,
  cacheRead: 40,
  cacheWrite: 8,
  output: 30,
};

async function collect<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('Messages', () => {
  test('a whole answer has text, tool calls and usage without the cache in the input', async () => {
    const model = await serve(EDIT);
    const message = await anthropic(model).messages.create({ ...MESSAGES, messages: [...MESSAGES.messages] });
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content.map((block) => block.type)).toEqual(['text', 'tool_use', 'tool_use']);
    expect(message.content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []))).toEqual(
      EDIT.toolCalls?.map((call) => call.input),
    );
    expect(message.usage).toMatchObject({
      input_tokens: 100,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 8,
      output_tokens: 30,
    });
    expect(model.requests).toEqual([{ ...BOOKED, protocol: 'anthropic' }]);
  });

  test('a streamed answer adds up to the whole one', async () => {
    const model = await serve({ ...EDIT, thinking: { text: 'First the greeting. '.repeat(5), signature: 'c2ln' } });
    const request = { ...MESSAGES, messages: [...MESSAGES.messages] };
    const whole = await anthropic(model).messages.create(request);
    const streamed = await anthropic(model).messages.stream(request).finalMessage();
    expect(streamed.content).toEqual(whole.content);
    expect(streamed.content[0]).toMatchObject({ type: 'thinking', signature: 'c2ln' });
    expect(streamed.stop_reason).toBe(whole.stop_reason);
    expect(streamed.usage).toMatchObject({ input_tokens: 100, output_tokens: 30 });
    expect(model.requests).toHaveLength(2);
  });

  test('errors have the type that the SDK knows', async () => {
    const model = await serve({ status: 402, text: 'no money' });
    const error = await anthropic(model)
      .messages.create({ ...MESSAGES, messages: [...MESSAGES.messages] })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.PaymentRequiredError);
    expect(error).toMatchObject({ type: 'billing_error', apiMessage: 'no money' });
    expect(model.requests).toMatchObject([{ status: 402, input: 0, output: 0 }]);
  });
});

describe('Chat Completions', () => {
  test('a whole answer has text, tool calls and usage with the cache in the prompt', async () => {
    const model = await serve(EDIT);
    const answer = await openai(model).chat.completions.create({ ...CHAT, messages: [...CHAT.messages] });
    const choice = answer.choices[0];
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.content).toBe(EDIT.text);
    expect(
      choice?.message.tool_calls?.map((call) => (call.type === 'function' ? JSON.parse(call.function.arguments) : {})),
    ).toEqual(EDIT.toolCalls?.map((call) => call.input));
    expect(answer.usage).toMatchObject({
      prompt_tokens: 148,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 40 },
    });
    expect(model.requests).toEqual([{ ...BOOKED, protocol: 'openai-chat' }]);
  });

  test('a streamed answer adds up to the whole one', async () => {
    const model = await serve(EDIT);
    const request = { ...CHAT, messages: [...CHAT.messages] };
    const whole = await openai(model).chat.completions.create(request);
    const streamed = await openai(model).chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(EDIT.text);
    expect(streamed.choices[0]?.message.tool_calls).toMatchObject(whole.choices[0]?.message.tool_calls ?? []);
    expect(streamed.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('usage comes as the last chunk, and only when it is asked for', async () => {
    const model = await serve(EDIT);
    const client = openai(model);
    const request = { ...CHAT, messages: [...CHAT.messages], stream: true as const };
    const without = await collect(await client.chat.completions.create(request));
    const withUsage = await collect(
      await client.chat.completions.create({ ...request, stream_options: { include_usage: true } }),
    );
    expect(without.every((chunk) => chunk.usage === undefined && chunk.choices.length === 1)).toBe(true);
    expect(withUsage.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 148, completion_tokens: 30 } });
    expect(withUsage.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });
});

test('a script sees the same conversation over both protocols', async () => {
  const seen: ScriptRequest[] = [];
  const model = await serve((request) => {
    seen.push(request);
    return { text: 'ok' };
  });
  await anthropic(model).messages.create({
    model: 'model-coder',
    max_tokens: 1000,
    system: [{ type: 'text', text: 'Role: coder' }],
    tools: [{ name: 'read_file', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Task: T7\nAttempt: 2' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'reading' },
          { type: 'tool_use', id: 'x1', name: 'read_file', input: { path: 'a' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'x1', content: 'Error: gone', is_error: true },
          { type: 'text', text: 'Careful.' },
        ],
      },
    ],
  });
  await openai(model).chat.completions.create({
    model: 'model-coder',
    max_completion_tokens: 1000,
    tools: [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }],
    messages: [
      { role: 'system', content: 'Role: coder' },
      { role: 'user', content: 'Task: T7\nAttempt: 2' },
      {
        role: 'assistant',
        content: 'reading',
        tool_calls: [{ id: 'x1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } }],
      },
      { role: 'tool', tool_call_id: 'x1', content: 'Error: gone' },
      { role: 'user', content: 'Careful.' },
    ],
  });
  const [first, second] = seen;
  expect(first).toMatchObject({
    role: 'coder',
    task: 'T7',
    attempt: 2,
    turn: 1,
    tools: ['read_file'],
    maxTokens: 1000,
  });
  expect({ ...second, protocol: 'x' }).toEqual({ ...first, protocol: 'x' });
});

test('a repeated request gets the same ids and the same derived usage', async () => {
  const model = await serve({ toolCalls: [{ name: 'read_file', input: { path: 'a' } }] });
  const request = { ...CHAT, messages: [...CHAT.messages] };
  const first = await openai(model).chat.completions.create(request);
  const second = await openai(model).chat.completions.create(request);
  const other = await openai(model).chat.completions.create({
    ...request,
    messages: [{ role: 'user', content: 'Task: T2' }],
  });
  expect(second).toEqual(first);
  expect(first.usage?.prompt_tokens).toBe(Math.ceil(Buffer.byteLength(JSON.stringify(request)) / 4));
  expect(other.choices[0]?.message.tool_calls?.[0]?.id).not.toBe(first.choices[0]?.message.tool_calls?.[0]?.id);
});

test('the output cap of the request holds for scripted usage', async () => {
  const model = await serve({ text: 'long', usage: { input: 1, output: 5_000 } });
  const answer = await openai(model).chat.completions.create({ ...CHAT, messages: [...CHAT.messages] });
  expect(answer.choices[0]?.finish_reason).toBe('length');
  expect(model.requests).toMatchObject([{ output: 1000 }]);
});

test('a cut stream delivers its first events and is billed', async () => {
  const model = await serve({ ...EDIT, cutAfterEvents: 4 });
  const events: string[] = [];
  const stream = await anthropic(model).messages.create({
    ...MESSAGES,
    messages: [...MESSAGES.messages],
    stream: true,
  });
  await (async () => {
    for await (const event of stream) events.push(event.type);
  })().catch(() => {});
  expect(events[0]).toBe('message_start');
  expect(events).not.toContain('message_stop');
  expect(model.requests).toMatchObject([{ status: 200, output: 30 }]);
});

test('requests without key, with a broken body or on another route are refused and not booked', async () => {
  const model = await serve({ text: 'ok' });
  const post = (path: string, body: string, headers = {}): Promise<Response> =>
    fetch(`${model.url}${path}`, { method: 'POST', body, headers });
  const key = { authorization: 'Bearer key-coder' };
  expect((await post('/v1/messages', '{}')).status).toBe(401);
  expect((await post('/v1/messages', 'no json', key)).status).toBe(400);
  expect((await post('/v1/other', '{}', key)).status).toBe(404);
  expect(model.requests).toEqual([]);
  expect((await post('/v1/messages?beta=true', '{}', key)).status).toBe(200);
  expect(model.requests).toHaveLength(1);
});

test('a script that throws answers 500 with its message', async () => {
  const model = await serve(() => {
    throw new Error('no such step');
  });
  const answer = await fetch(`${model.url}/v1/messages`, { method: 'POST', body: '{}', headers: { 'x-api-key': 'k' } });
  expect(answer.status).toBe(500);
  expect(await answer.text()).toContain('The script failed: no such step');
});

test('the model server runs a script module in a process of its own and shows its books', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'scripted-model-'));
  const script = join(directory, 'script.mjs');
  await writeFile(script, `export const script = () => ({ text: 'from a module', usage: { input: 5, output: 2 } });\n`);
  const server = new URL('../../fakes/model-server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [server, script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { url } = JSON.parse((await lines.next()).value ?? '{}') as { url: string };
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}', headers: { 'x-api-key': 'k' } });
    expect(await answer.text()).toContain('from a module');
    child.stdin.write('books\n');
    expect(JSON.parse((await lines.next()).value ?? '[]')).toMatchObject([{ input: 5, output: 2, key: 'k' }]);
  } finally {
    child.stdin.end();
    expect(await exited).toBe(0);
    await rm(directory, { recursive: true, force: true });
  }
});
