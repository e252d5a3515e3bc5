import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, expect, test } from 'vitest';
import { readReport } from '../../../src/report/read-report.ts';
import {
  ANTHROPIC_EVENTS,
  CHAT_DONE,
  CHAT_EVENTS,
  CHAT_USAGE_EVENT,
  events,
  json,
  RESPONSES_EVENTS,
  type Reply,
  type Seen,
} from './fake-upstream.ts';
import { grantFor, type Harness, settled, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

async function clients(replyOf: (n: number, seen: Seen) => Reply, limit = 1_000_000) {
  const running = await startHarness(replyOf);
  harness = running;
  const apiKey = running.gateway.issue(grantFor({ limit }));
  return {
    running,
    anthropic: new Anthropic({ apiKey, baseURL: running.gateway.url }),
    openai: new OpenAI({ apiKey, baseURL: `${running.gateway.url}/v1` }),
  };
}
const messages = [{ role: 'user' as const, content: 'Say hi.' }];

/** The three ways in which the vendors' clients call a model. */
function callsOf({ anthropic, openai }: { anthropic: Anthropic; openai: OpenAI }) {
  return {
    messages: async () => {
      const stream = anthropic.messages.stream({ model: 'model-a', max_tokens: 500, messages });
      return (await stream.finalMessage()).usage.output_tokens;
    },
    chat: async () => {
      let text = '';
      const stream = await openai.chat.completions.create({ model: 'model-a', messages, stream: true });
      for await (const part of stream) text += part.choices[0]?.delta.content ?? '';
      return text.length;
    },
    responses: async () => {
      let last = '';
      const stream = await openai.responses.create({ model: 'model-a', input: 'Say hi.', stream: true });
      for await (const event of stream) last = event.type;
      return last;
    },
  };
}
const streamOf = (cut: boolean) => (_: number, seen: Seen) => {
  const list = seen.url.includes('messages')
    ? ANTHROPIC_EVENTS
    : seen.url.includes('chat')
      ? [...CHAT_EVENTS, CHAT_USAGE_EVENT, CHAT_DONE]
      : RESPONSES_EVENTS;
  return cut ? events(list.slice(0, 2), 'cut') : events(list);
};

test('the vendors’ clients stream through it', async () => {
  const { running, ...both } = await clients(streamOf(false));
  const calls = callsOf(both);
  expect(await calls.messages()).toBe(40);
  expect(await calls.chat()).toBe(44);
  expect(await calls.responses()).toBe('response.completed');
  await settled(running);
  expect(readReport(running.store, { by: 'role' }).total).toMatchObject({ requests: 3, estimated: 0 });
});

test('a budget refusal stops them after one request each', async () => {
  const { running, ...both } = await clients(streamOf(false), 0);
  const calls = callsOf(both);
  await expect(calls.messages()).rejects.toMatchObject({
    status: 402,
    message: expect.stringMatching(/Budget reached/),
  });
  await expect(calls.chat()).rejects.toMatchObject({ status: 402, message: expect.stringMatching(/Budget reached/) });
  await expect(calls.responses()).rejects.toMatchObject({ status: 400 });
  expect(running.events.filter((event) => event.type === 'budget-refused')).toHaveLength(3);
});

test('an upstream that fails for good is asked by the gateway alone', async () => {
  const { running, ...both } = await clients(() => json(503, { error: { message: 'busy' } }));
  const calls = callsOf(both);
  await expect(calls.messages()).rejects.toMatchObject({ status: 503 });
  await expect(calls.chat()).rejects.toMatchObject({ status: 503 });
  expect(running.upstream.seen).toHaveLength(6);
});

test('a cut stream is an error for them, not an end', async () => {
  const { running, ...both } = await clients(streamOf(true));
  const calls = callsOf(both);
  await expect(calls.messages()).rejects.toThrow(/broke off/);
  await expect(calls.chat()).rejects.toThrow(/broke off/);
  expect(await calls.responses()).toBe('response.failed');
  expect(running.upstream.seen).toHaveLength(3);
});
