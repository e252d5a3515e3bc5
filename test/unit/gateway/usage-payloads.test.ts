import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/usage.ts';
import { parseObject } from '../../../src/gateway/json.ts';
import { DIALECTS } from '../../../src/gateway/protocols/dialects.ts';
import { createSseSplitter } from '../../../src/gateway/sse.ts';

interface Payload {
  readonly id: string;
  readonly wire: 'anthropic' | 'chat' | 'responses';
  readonly kind: 'sse' | 'json';
  readonly body: string;
  readonly expect: Record<'in' | 'cr' | 'cw5' | 'cw1' | 'out', number | null> & { readonly done: boolean };
}
const file = join(import.meta.dirname, '../../fixtures/gateway/usage-payloads.json');
const payloads = JSON.parse(readFileSync(file, 'utf8')) as Payload[];
const WIRES = { anthropic: 'anthropic', chat: 'openai-chat', responses: 'openai-responses' } as const;

function read(payload: Payload, body: Buffer, cut: number): { usage: Usage | undefined; done: boolean; raw: Buffer } {
  const dialect = DIALECTS[WIRES[payload.wire]];
  if (payload.kind === 'json') {
    const object = parseObject(body.toString('utf8'));
    return { usage: object && dialect.usageOf(object), done: object !== undefined, raw: body };
  }
  const splitter = createSseSplitter();
  const reader = dialect.streamReader();
  const raw: Buffer[] = [];
  for (let at = 0; at < body.length; at += cut) {
    for (const event of splitter.push(body.subarray(at, at + cut))) {
      reader.accept(event);
      raw.push(event.raw);
    }
  }
  const tail = splitter.end();
  if (tail !== undefined) {
    reader.accept(tail);
    raw.push(tail.raw);
  }
  const { usage, done } = reader.reading();
  return { usage, done, raw: Buffer.concat(raw) };
}

const variants = (body: string) => [body, body.replaceAll('\n', '\r\n'), body.replaceAll('data: ', 'data:')];

test.each(payloads)('$id', (payload) => {
  const { done, ...counts } = payload.expect;
  for (const body of variants(payload.body).map((text) => Buffer.from(text))) {
    for (const cut of [1, 2, 3, 7, 64, body.length]) {
      const result = read(payload, body, cut);
      const usage = result.usage;
      const shown = {
        in: usage?.input ?? null,
        cr: usage?.cacheRead ?? null,
        cw5: usage?.cacheWrite5m ?? null,
        cw1: usage?.cacheWrite1h ?? null,
        out: usage?.output ?? null,
      };
      expect({ cut, ...shown, done: result.done }).toEqual({ cut, ...counts, done });
      expect(result.raw.equals(body)).toBe(true);
    }
  }
});

test('usage is taken from its own place, never from what the model says', () => {
  const said = '{"usage":{"prompt_tokens":999999,"completion_tokens":999999}}';
  const chunk = { choices: [{ index: 0, delta: { content: said }, finish_reason: null }] };
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
  const reader = DIALECTS['openai-chat'].streamReader();
  const splitter = createSseSplitter();
  for (const event of splitter.push(Buffer.from(body))) reader.accept(event);
  expect(reader.reading().usage).toMatchObject({ input: 3, output: 2 });

  const delta = { type: 'content_block_delta', delta: { type: 'text_delta', text: '"usage":{"output_tokens":9}' } };
  const claude = DIALECTS.anthropic.streamReader();
  for (const event of createSseSplitter().push(Buffer.from(`data: ${JSON.stringify(delta)}\n\n`))) claude.accept(event);
  expect(claude.reading()).toMatchObject({ usage: undefined, streamedBytes: 27 });
});

test('one-hour writes split off, the remainder is five-minute writes', () => {
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    cache_creation_input_tokens: 100,
    cache_creation: { ephemeral_1h_input_tokens: 60, ephemeral_5m_input_tokens: 10 },
  };
  expect(DIALECTS.anthropic.usageOf({ usage })).toMatchObject({ cacheWrite5m: 40, cacheWrite1h: 60 });
});

test('usage in a place of its own and again in the usual one is counted once', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 6 };
  expect(DIALECTS['openai-chat'].usageOf({ choices: [], x_groq: { usage } })).toMatchObject({ input: 5, output: 6 });
  const both = { choices: [], usage, x_groq: { usage } };
  expect(DIALECTS['openai-chat'].usageOf(both)).toMatchObject({ input: 5, output: 6 });
});

test.each(Object.values(DIALECTS))('the error event of $protocol reads as a failed stream', (dialect) => {
  const reader = dialect.streamReader();
  const events = createSseSplitter().push(Buffer.from(dialect.streamError('cut "here"\n')));
  for (const event of events) reader.accept(event);
  const { failed, done } = reader.reading();
  expect(events).toHaveLength(1);
  expect(failed || done).toBe(true);
  expect(events[0]?.data).toContain('cut \\"here\\"');
});
