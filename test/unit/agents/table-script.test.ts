import { expect, test } from 'vitest';
import { type ScriptRequest, tableScript } from '../../../src/cli/demo/script.ts';

const request: ScriptRequest = {
  protocol: 'anthropic',
  model: 'some-model',
  key: 'k',
  system: '',
  messages: [],
  turn: 0,
  tools: [],
  role: 'coder',
  task: 'T1',
  attempt: 1,
  stream: true,
  maxTokens: undefined,
  temperature: undefined,
};

test('the most specific table wins', () => {
  const script = tableScript({
    coder: [{ text: 'coder' }],
    'coder#2': [{ text: 'coder#2' }],
    'T1/coder': [{ text: 'T1/coder' }],
    'T1/coder#2': [{ text: 'T1/coder#2' }],
  });
  expect(script({ ...request, attempt: 2 })).toEqual({ text: 'T1/coder#2' });
  expect(script(request)).toEqual({ text: 'T1/coder' });
  expect(script({ ...request, task: 'T2', attempt: 2 })).toEqual({ text: 'coder#2' });
  expect(script({ ...request, task: undefined, attempt: 3 })).toEqual({ text: 'coder' });
});

test('replies follow the turns; after the last one there is nothing to add', () => {
  const script = tableScript({ coder: [{ text: 'one' }, { text: 'two' }] });
  expect([0, 1, 2].map((turn) => script({ ...request, turn }))).toEqual([
    { text: 'one' },
    { text: 'two' },
    { text: 'Nothing more to do.' },
  ]);
});

test('a role that the prompt does not name is recognised from model or key; an unknown one gets a text', () => {
  const script = tableScript({
    'T1/reviewer': [{ text: 'task' }],
    reviewer: [{ text: 'review' }],
    coder: [{ text: 'code' }],
  });
  const nameless = { ...request, role: undefined, task: undefined };
  expect(script({ ...nameless, model: 'm-reviewer' })).toEqual({ text: 'review' });
  expect(script({ ...nameless, key: 'sk-coder-1' })).toEqual({ text: 'code' });
  expect(script(nameless)).toEqual({ text: 'Nothing more to do.' });
});
