import { afterEach, describe, expect, test } from 'vitest';
import {
  ANTHROPIC_ANSWER,
  ANTHROPIC_EVENTS,
  CHAT_DONE,
  CHAT_EVENTS,
  events,
  json,
  RESPONSES_EVENTS,
} from './fake-upstream.ts';
import { grantFor, type Harness, MESSAGES, post, settled, startHarness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const chatAnswer = (reason: string) => ({
  choices: [{ index: 0, message: { content: 'a' }, finish_reason: reason }],
  usage: { prompt_tokens: 5, completion_tokens: 5 },
});
const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
const swapped = (list: readonly string[], from: string, to: string) => list.map((event) => event.replace(from, to));

const CUT = {
  'anthropic stream': ['/v1/messages', true, events(swapped(ANTHROPIC_EVENTS, 'end_turn', 'max_tokens'))],
  'anthropic JSON': ['/v1/messages', false, json(200, { ...ANTHROPIC_ANSWER, stop_reason: 'max_tokens' })],
  'chat stream': ['/v1/chat/completions', true, events([...swapped(CHAT_EVENTS, '"stop"', '"length"'), CHAT_DONE])],
  'chat JSON': ['/v1/chat/completions', false, json(200, chatAnswer('length'))],
  'responses stream': [
    '/v1/responses',
    true,
    events(
      swapped(
        RESPONSES_EVENTS,
        '"status":"completed"',
        '"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}',
      ),
    ),
  ],
  'responses JSON': ['/v1/responses', false, json(200, { output: [], ...incomplete })],
} as const;

const WHOLE = {
  'anthropic stream': ['/v1/messages', true, events(ANTHROPIC_EVENTS)],
  'chat JSON': ['/v1/chat/completions', false, json(200, chatAnswer('stop'))],
  'responses stream': ['/v1/responses', true, events(RESPONSES_EVENTS)],
} as const;

type Case = (typeof CUT)[keyof typeof CUT] | (typeof WHOLE)[keyof typeof WHOLE];

async function flags([path, stream, reply]: Case, limit: number): Promise<unknown[]> {
  harness = await startHarness(() => reply);
  const key = harness.gateway.issue(grantFor({ limit }));
  const body = { ...MESSAGES, max_tokens: 8000, max_output_tokens: 8000, input: 'x'.repeat(300), stream };
  expect((await post(harness.gateway, path, body, { key })).status).toBe(200);
  await settled(harness);
  return harness.events
    .filter(({ type }) => type === 'call-clamped-short')
    .map(({ role, data }) => [role, data['asked']]);
}

describe('an answer that ends at a cap which the budget made smaller', () => {
  test.each(Object.entries(CUT))('%s is flagged', async (_, cut) => {
    expect(await flags(cut, 3000)).toEqual([['coder', 8000]]);
  });
  test.each(Object.entries(CUT))('%s at its own cap is not', async (_, cut) => {
    expect(await flags(cut, 1_000_000)).toEqual([]);
  });
  test.each(Object.entries(WHOLE))('%s that ended by itself is not', async (_, whole) => {
    expect(await flags(whole, 3000)).toEqual([]);
  });
});
