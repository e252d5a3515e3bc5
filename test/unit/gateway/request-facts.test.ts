import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DIALECTS } from '../../../src/gateway/protocols/dialects.ts';
import { bytesToSend, type RequestFacts, readRequestFacts } from '../../../src/gateway/request-facts.ts';
import { scanTopLevel, spliceMembers } from '../../../src/gateway/splice.ts';

const { anthropic, 'openai-chat': chat, 'openai-responses': responses } = DIALECTS;

function factsOf(text: string, dialect: (typeof DIALECTS)[keyof typeof DIALECTS]): RequestFacts {
  const facts = readRequestFacts(Buffer.from(text), dialect);
  if ('problem' in facts) throw new Error(facts.problem);
  return facts;
}
function sent(text: string, dialect: (typeof DIALECTS)[keyof typeof DIALECTS], outputCap: number): string {
  const facts = factsOf(text, dialect);
  return bytesToSend({ bytes: Buffer.from(text), facts, dialect, outputCap }).bytes.toString();
}

test('bytes that need no change stay as they are', () => {
  const text = ' { "model" : "m", "max_tokens":\t64 ,"messages":[{"role":"user","content":"é \\u00e9 \\"}"}] } \n';
  expect(sent(text, anthropic, 64)).toBe(text);
  const streaming = '{"model":"m","max_tokens":5,"stream":true,"stream_options":{"include_usage":true}}';
  expect(sent(streaming, chat, 5)).toBe(streaming);
});

test('a clamped cap is changed in place, a missing one is put in front', () => {
  expect(sent('{"model":"m","max_tokens": 9000,"x":[1,{"max_tokens":9000}]}', anthropic, 1024)).toBe(
    '{"model":"m","max_tokens": 1024,"x":[1,{"max_tokens":9000}]}',
  );
  expect(sent('{"model":"m"}', responses, 7)).toBe('{"max_output_tokens":7,"model":"m"}');
  expect(sent('{"max_completion_tokens":10,"max_tokens":90,"model":"m"}', chat, 50)).toBe(
    '{"max_completion_tokens":10,"max_tokens":50,"model":"m"}',
  );
});

test('a chat stream is asked for its usage, other options stay', () => {
  const text = '{"model":"m","stream":true,"stream_options":{"other":1},"max_tokens":5}';
  expect(JSON.parse(sent(text, chat, 5))).toEqual({
    model: 'm',
    stream: true,
    stream_options: { other: 1, include_usage: true },
    max_tokens: 5,
  });
  expect(sent('{"model":"m","stream":true,"max_output_tokens":5}', responses, 5)).not.toContain('stream_options');
});

test.each([
  ['[1]', /no JSON object/],
  ['{"model":"m"', /no JSON object/],
  ['{"max_tokens":1}', /names no model/],
  ['{"model":"a","mod\\u0065l":"b"}', /"model" twice/],
  ['{"model":"m","max_tokens":0}', /whole number/],
  ['{"model":"m","max_tokens":1.5}', /whole number/],
  ['{"model":"m","max_tokens":"9"}', /whole number/],
  ['{"model":"m","max_tokens":-4}', /whole number/],
  ['{"model":"m","previous_response_id":"r1"}', /cannot see/],
  ['{"model":"m","background":true}', /do not pass the meter/],
])('%s is refused', (text, problem) => {
  expect(readRequestFacts(Buffer.from(text), anthropic)).toMatchObject({ problem: expect.stringMatching(problem) });
});

test('null and the largest caps are taken', () => {
  expect(factsOf('{"model":"m","max_tokens":null,"previous_response_id":null}', chat).askedCap).toBeUndefined();
  expect(factsOf('{"model":"m","max_tokens":2147483648,"n":8}', chat)).toMatchObject({ askedCap: 2 ** 31, choices: 8 });
  const thinking = '{"model":"m","max_tokens":9,"thinking":{"type":"enabled","budget_tokens":2048}}';
  expect(factsOf(thinking, anthropic).thinkingBudget).toBe(2048);
});

test('a conversation is known by its first message', () => {
  const first = '{"role":"user","content":"one"}';
  const one = factsOf(`{"model":"m","messages":[${first}]}`, anthropic);
  const two = factsOf(`{"model":"m","messages":[${first},{"role":"assistant","content":"x"}]}`, anthropic);
  const other = factsOf('{"model":"m","messages":[{"role":"user","content":"two"}]}', anthropic);
  expect(two.firstMessage).toBe(one.firstMessage);
  expect(other.firstMessage).not.toBe(one.firstMessage);
});

test('splicing any object gives what parsing and setting gives', () => {
  const space = fc.constantFrom('', ' ', '\n', '\t\r\n');
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
      space,
      fc.nat(),
      (object, gap, value) => {
        const members = Object.entries(object).map(
          ([key, item]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${JSON.stringify(item)}${gap}`,
        );
        const bytes = Buffer.from(`${gap}{${gap}${members.join(',')}}${gap}`);
        const topLevel = scanTopLevel(bytes);
        if (topLevel === undefined) throw new Error('not scanned');
        expect(topLevel.members.map((member) => member.key)).toEqual(members.length === 0 ? [] : Object.keys(object));
        for (const key of ['cap', Object.keys(object)[0] ?? 'other']) {
          const spliced = JSON.parse(
            spliceMembers(bytes, topLevel, new Map([[key, String(value)]])).toString(),
          ) as unknown;
          expect(spliced).toEqual({ ...(JSON.parse(bytes.toString()) as object), [key]: value });
        }
      },
    ),
  );
});
