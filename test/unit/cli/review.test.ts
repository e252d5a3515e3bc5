import { describe, expect, test } from 'vitest';
import type { AnswerResult } from '../../../src/api/backend.ts';
import type { Checkpoint } from '../../../src/domain/checkpoint.ts';
import { OrchestratorError } from '../../../src/domain/errors.ts';
import type { CheckpointId } from '../../../src/domain/ids.ts';
import { decodeKeys } from '../../../src/tui/keys.ts';
import { paintFor } from '../../../src/tui/paint.ts';
import { type ReviewPort, reviewLoop } from '../../../src/tui/review-loop.ts';
import {
  openReview,
  promptText,
  type ReviewCommand,
  type ReviewState,
  reduceReview,
} from '../../../src/tui/review-state.ts';
import { parseTokenCount } from '../../../src/tui/token-count.ts';
import { checkpoint } from '../../integration/api/fake-backend.ts';

function press(first: Checkpoint, typed: string): { state: ReviewState; commands: ReviewCommand[] } {
  let state = openReview(first);
  const commands: ReviewCommand[] = [];
  for (const key of decodeKeys(typed)) {
    const step = reduceReview(state, key);
    state = step.state;
    if (step.command !== undefined) commands.push(step.command);
  }
  return { state, commands };
}

describe('keys', () => {
  test('arrow keys are nothing, a lone escape is escape, text comes by code point', () => {
    expect(
      decodeKeys('\x1b[A\x1b[1;5Cy\r\x7f\x1bé😀\x03').map((key) => (key.kind === 'character' ? key.text : key.kind)),
    ).toEqual(['y', 'enter', 'backspace', 'escape', 'é', '😀', 'interrupt']);
  });
});

describe('one question', () => {
  const plan = checkpoint();
  const merge = checkpoint({ kind: 'merge' });
  const budget = checkpoint({ kind: 'budget' });
  const dollars = checkpoint({ kind: 'budget', payload: { scope: 'usd-task:r/T1/coder', unit: 'usd' } });
  const empty = checkpoint({ kind: 'budget', payload: { scope: null } });

  test.each<[string, Checkpoint, string, ReviewCommand[]]>([
    ['y approves', plan, 'y', [{ kind: 'approve' }]],
    ['d shows the diff', plan, 'd', [{ kind: 'show-diff' }]],
    ['s skips', plan, 's', [{ kind: 'skip' }]],
    ['q quits', plan, 'q', [{ kind: 'quit' }]],
    ['Ctrl-C quits from inside a text', plan, 'nsome\x03', [{ kind: 'quit' }]],
    ['n needs a reason', plan, 'n\r  \r', []],
    ['n with a reason rejects', plan, 'nno\x7f\x7fkeep it\r', [{ kind: 'reject', reason: 'keep it', rework: false }]],
    ['escape forgets what was typed', plan, 'nno\x1by', [{ kind: 'approve' }]],
    [
      'a merge asks for rework or rejection',
      merge,
      'nwrong name\rr',
      [{ kind: 'reject', reason: 'wrong name', rework: true }],
    ],
    ['a merge can be rejected', merge, 'nwrong\rxn', [{ kind: 'reject', reason: 'wrong', rework: false }]],
    ['y on a budget asks for the number', budget, 'y300k\r', [{ kind: 'approve', tokens: 300_000 }]],
    ['e on a budget too', budget, 'e1.5M\r', [{ kind: 'approve', tokens: 1_500_000 }]],
    [
      'a number that is none is asked again',
      budget,
      'ylots\r\x7f\x7f\x7f\x7f5k\r',
      [{ kind: 'approve', tokens: 5000 }],
    ],
    ['a budget in dollars takes dollars', dollars, 'y300k\r', []],
    ['and only those', dollars, 'y$2.50\r', [{ kind: 'approve', usd: 2.5 }]],
    ['an empty account has no cap to ask for', empty, 'ey', [{ kind: 'approve' }]],
    ['e elsewhere does nothing', plan, 'e', []],
    ['other keys, enter and Y do nothing', plan, 'Y \rz', []],
  ])('%s', (_name, first, typed, commands) => {
    expect(press(first, typed).commands).toEqual(commands);
  });

  test('the prompt names the question and what has been typed', () => {
    expect(promptText(openReview(plan))).toContain('plan c-aaaaaa');
    expect(promptText(press(plan, 'nbecau').state)).toContain('becau');
    expect(press(plan, 'z').state.hint).toContain('y approve');
  });
});

test('token counts', () => {
  expect(['200k', '2e5', '1.5M', '0', '300000'].map(parseTokenCount)).toEqual([
    200_000, 200_000, 1_500_000, 0, 300_000,
  ]);
  expect(['', '-1', '1K', '1 k', 'unlimited', '0x10', '9e99', '1m'].map(parseTokenCount)).toEqual(
    Array(8).fill(undefined),
  );
});

describe('the walk', () => {
  const second = checkpoint({ id: 'c-bbbbbb' as CheckpointId, summary: 'the second', diff: '+now\x1b[31m\n-then\n' });

  async function walk(pending: readonly Checkpoint[], typed: string, port: Partial<ReviewPort> = {}) {
    const keys = [...decodeKeys(typed)];
    const told: unknown[] = [];
    let screen = '';
    const summary = await reviewLoop(
      pending,
      {
        approve: async (shown, given): Promise<AnswerResult> => {
          told.push(['approve', shown.id, given.tokens, given.despiteVerify]);
          return { id: shown.id, state: 'approved', message: 'on it goes' };
        },
        reject: async (shown, given) => {
          told.push(['reject', shown.id, given.reason, given.rework]);
          return { id: shown.id, state: 'rejected', message: 'the reason goes to the agent' };
        },
        find: async () => undefined,
        nextKey: async () => keys.shift(),
        write: (text) => {
          screen += text;
        },
        ...port,
      },
      paintFor(false),
    );
    return { summary, told, screen };
  }

  test('asks each and counts', async () => {
    const { summary, told, screen } = await walk([checkpoint(), second], 'ynbad\r');
    expect(summary).toEqual({ approved: 1, rejected: 1, skipped: 0, quit: false });
    expect(told).toEqual([
      ['approve', 'c-aaaaaa', undefined, undefined],
      ['reject', 'c-bbbbbb', 'bad', false],
    ]);
    expect(screen).toContain('the second');
    expect(screen).toContain('on it goes');
  });

  test('d shows the diff escaped and asks again', async () => {
    const { screen, summary } = await walk([second], 'ds');
    expect(screen).toContain('+now\\x1b[31m\n-then\n');
    expect(summary.skipped).toBe(1);
  });

  test('q, and a terminal that goes away, answer nothing', async () => {
    for (const typed of ['q', '', 'nhalf a reason']) {
      const { summary, told } = await walk([checkpoint(), second], typed);
      expect(summary.quit).toBe(true);
      expect(told).toEqual([]);
    }
  });

  test('a void one is replaced in place', async () => {
    let asked = 0;
    const { summary, screen } = await walk([checkpoint()], 'yy', {
      approve: async ({ id }) =>
        ++asked === 1
          ? { id, state: 'void', message: 'the target moved', replacedBy: 'c-bbbbbb' }
          : { id, state: 'approved', message: 'done' },
      find: async (id) => (id === 'c-bbbbbb' ? second : undefined),
    });
    expect(summary).toEqual({ approved: 1, rejected: 0, skipped: 0, quit: false });
    expect(screen).toContain('the target moved');
    expect(screen).toContain('the second');
  });

  test('a bad verify result needs the word yes', async () => {
    const told: unknown[] = [];
    const approve: ReviewPort['approve'] = async ({ id }, given) => {
      told.push(given.despiteVerify);
      if (given.despiteVerify) return { id, state: 'approved', message: 'done' };
      throw new OrchestratorError('refused', 'verify failed: approve with --despite-verify');
    };
    expect((await walk([checkpoint({ kind: 'merge' })], 'yno\r\x1bs', { approve })).summary.skipped).toBe(1);
    expect((await walk([checkpoint({ kind: 'merge' })], 'yyes\r', { approve })).summary.approved).toBe(1);
    expect(told).toEqual([undefined, undefined, true]);
  });

  test('a refusal is shown and the question stays; a lost daemon ends the walk', async () => {
    const refuse = async () => {
      throw new OrchestratorError('refused', 'answered already');
    };
    const { screen, summary } = await walk([checkpoint()], 'ys', { approve: refuse });
    expect(screen).toContain('answered already');
    expect(summary.skipped).toBe(1);
    const gone = async () => {
      throw new OrchestratorError('no-daemon', 'gone');
    };
    await expect(walk([checkpoint()], 'y', { approve: gone })).rejects.toMatchObject({ code: 'no-daemon' });
  });
});
