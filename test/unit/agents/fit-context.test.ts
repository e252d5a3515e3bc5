import { expect, test } from 'vitest';
import { fitContext } from '../../../src/agents/builtin/fit-context.ts';
import type { TurnRecord } from '../../../src/agents/runner.ts';
import { turnRecord } from '../../fakes/turn-record.ts';

/** 1000 tokens of window are 3000 bytes; a turn of 400 bytes each. */
const turn = (name: string): TurnRecord =>
  turnRecord({
    assistant: name,
    calls: [{ id: '1', name: 'read_file', input: {} }],
    results: [{ id: '1', text: name.repeat(400), isError: true }],
  });
const names = 'abcdefghijklmnopqrstuvwxyz';
const history = (length: number): readonly TurnRecord[] => [...names.slice(0, length)].map(turn);
const sent = (turns: readonly TurnRecord[], fixedBytes = 0, windowTokens = 1000) =>
  fitContext({ history: turns, fixedBytes, windowTokens });
const kept = (turns: readonly TurnRecord[]): string =>
  turns.map((one) => (one.results[0]?.text.startsWith('[') ? '.' : String(one.assistant))).join('');

test('nothing is dropped below 70 % of the window', () => {
  expect(sent(history(5))).toEqual(history(5));
});

test('the oldest results go first, in a batch, and everything else of the turn stays', () => {
  const fitted = sent(history(8));
  expect(kept(fitted)).toBe('...defgh');
  expect(fitted[0]).toEqual({
    ...turn('a'),
    results: [
      {
        id: '1',
        text: '[400 characters of an old read_file result were dropped to save context; call it again if they are needed]',
        isError: true,
      },
    ],
  });
});

test('the last five turns stay even when the window is full', () => {
  expect(kept(sent(history(6), 100_000))).toBe('.bcdef');
  expect(kept(sent(history(5), 100_000))).toBe('abcde');
});

test('what was dropped stays dropped as the history grows, and most turns leave the prefix as it was', () => {
  let changes = 0;
  let before = '';
  for (let length = 1; length <= names.length; length += 1) {
    const now = kept(sent(history(length), 0, 3000));
    const prefix = now.slice(0, before.length);
    for (const [index, mark] of [...before].entries()) if (mark === '.') expect(prefix[index]).toBe('.');
    if (prefix !== before) changes += 1;
    before = now;
  }
  expect(before).toMatch(/^\.{7,21}[a-z]{5,}$/);
  expect(changes).toBeLessThan(4);
});

test('short results are not worth a note', () => {
  const short = turnRecord({ results: [{ id: '1', text: 'ok', isError: false }] });
  expect(sent([short, ...history(8)])[0]).toEqual(short);
});
