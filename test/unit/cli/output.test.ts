import { describe, expect, test } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { ageText, bytesText, tokensText, usdText } from '../../../src/cli/output/amounts.ts';
import { eventText } from '../../../src/cli/output/event-text.ts';
import { printJson } from '../../../src/cli/output/json.ts';
import { logLineText } from '../../../src/cli/output/log-line.ts';
import { printTable } from '../../../src/cli/output/table.ts';

function capture(columns: number, color = false): { io: Io; text: () => string } {
  let written = '';
  const io = { stdout: (text: string) => (written += text), columns, color } as unknown as Io;
  return { io, text: () => written };
}

describe('amounts', () => {
  test('tokens keep three figures', () => {
    expect([0, 999, 1000, 1234, 200_000, 999_499, 1_234_567, 2e6].map(tokensText)).toEqual([
      '0',
      '999',
      '1k',
      '1.23k',
      '200k',
      '999k',
      '1.23M',
      '2M',
    ]);
  });

  test('an unknown price is ?, never 0', () => {
    expect([null, 0, 0.0123, 12.5].map(usdText)).toEqual(['?', '$0.0000', '$0.0123', '$12.50']);
  });

  test('ages and bytes', () => {
    expect([0, 59, 61, 7200, 200_000].map((seconds) => ageText(0, seconds * 1000))).toEqual([
      '0 s ago',
      '59 s ago',
      '1 min ago',
      '2 h ago',
      '2 days ago',
    ]);
    expect(ageText(5000, 0)).toBe('0 s ago');
    expect([0, 1023, 1536, 5 * 1024 ** 3].map(bytesText)).toEqual(['0 B', '1023 B', '1.5 KiB', '5.0 GiB']);
  });
});

describe('tables', () => {
  test('columns align, and only a terminal cuts the last', () => {
    const narrow = capture(24);
    printTable(
      narrow.io,
      ['id', 'request'],
      [
        ['r-1', 'a request that is long'],
        ['r-222', 'b'],
      ],
    );
    expect(narrow.text()).toBe('id     request\nr-1    a request that i…\nr-222  b\n');
    const pipe = capture(Number.POSITIVE_INFINITY);
    printTable(pipe.io, ['id', 'request'], [['r-1', 'a request that is long']]);
    expect(pipe.text()).toContain('a request that is long');
  });

  test('colour does not move the columns, hostile text is escaped', () => {
    const colored = capture(80, true);
    printTable(colored.io, ['s', 'x'], [[{ text: 'failed', paint: 'bad' }, 'e\x1b]0;t\x07']]);
    expect(colored.text()).toContain('\x1b[31mfailed\x1b[39m  e\\x1b]0;t\\x07');
  });
});

test('JSON escapes what could play with a terminal, and loses nothing', () => {
  const value = { text: 'a\x9b\u202e\u{e000}\u{e0001}\udc80 ä€😀' };
  const { io, text } = capture(80);
  printJson(io, value);
  expect(text()).not.toMatch(/[\x80-\x9f\u202e\ue000]|\u{e0001}/u);
  expect(text()).toContain('ä€😀');
  expect(JSON.parse(text())).toEqual(value);
});

test('events and log lines as people read them', () => {
  const event = { seq: 1, at: 0, run: 'r', task: 'T1', role: 'coder', data: {} };
  expect(eventText({ ...event, type: 'step-ended', data: { reason: 'done\nmore', tokens: 3 } })).toBe(
    '00:00:00 T1/coder step ended: done',
  );
  expect(eventText({ ...event, type: 'run-state', task: null, role: null })).toBe('00:00:00 run state');
  expect(eventText({ ...event, type: 'call-sent' })).toBeUndefined();
  const turn = { turn: 2, tools: ['read_file', 'edit_file'], changed: true };
  expect(eventText({ ...event, type: 'turn-ended', data: turn })).toBe(
    '00:00:00 T1/coder turn 2: read_file, edit_file (files changed)',
  );
  const violation = { path: 'tests/a.py', decision: 'deny', resolution: 'prevented' };
  expect(eventText({ ...event, type: 'violation-recorded', data: violation })).toBe(
    '00:00:00 T1/coder prevented: deny tests/a.py',
  );
  expect(logLineText('plain')).toBe('plain');
  expect(logLineText('{broken')).toBe('{broken');
});
