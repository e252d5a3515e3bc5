import { describe, expect, test } from 'vitest';
import { conclude, reminder, summaryOf } from '../../../src/agents/builtin/conclude.ts';
import type { TurnRecord } from '../../../src/agents/runner.ts';
import { turnRecord } from '../../fakes/turn-record.ts';

const calling = (name: string, isError = false, input: unknown = {}): TurnRecord =>
  turnRecord({ calls: [{ id: '1', name, input }], results: [{ id: '1', text: '', isError }] });
const silent = turnRecord({});

describe('conclude', () => {
  test.each([
    ['a turn with other calls', calling('read_file'), 'go-on'],
    ['finish', calling('finish'), 'finish'],
    ['finish with a bad input', calling('finish', true), 'go-on'],
    ['no call', silent, 'finish'],
    ['no call, but something to tell', turnRecord({ notices: ['cut'] }), 'go-on'],
  ] as const)('%s', (_name, turn, conclusion) => {
    expect(conclude(turn, [], 'nothing')).toBe(conclusion);
  });

  test('a planner ends only with an accepted plan, and is reminded once', () => {
    expect(conclude(silent, [calling('submit_plan')], 'plan')).toBe('finish');
    expect(conclude(silent, [calling('submit_plan', true)], 'plan')).toBe('remind');
    expect(conclude(calling('submit_plan'), [], 'plan')).toBe('go-on');
    expect(conclude(silent, [turnRecord({ notices: [reminder('plan')] })], 'plan')).toBe('fail');
    expect(conclude(silent, [turnRecord({ notices: [reminder('plan')] }), calling('submit_plan')], 'plan')).toBe(
      'finish',
    );
  });

  test('a reviewer needs a verdict, not a plan', () => {
    expect(conclude(silent, [calling('submit_plan')], 'review')).toBe('remind');
    expect(conclude(silent, [calling('submit_review')], 'review')).toBe('finish');
  });
});

test('the summary is that of finish, else the text, else said to be missing', () => {
  expect(summaryOf(calling('finish', false, { summary: ' done ' }), 'text')).toBe('done');
  expect(summaryOf(calling('finish', false, { summary: ' ' }), 'text')).toBe('text');
  expect(summaryOf(silent, '')).toBe('The agent ended without a summary.');
});
