import { describe, expect, test } from 'vitest';
import { keyTail, parseEnvFile } from '../../../src/policy/env-file.ts';

describe('parseEnvFile', () => {
  test('reads names, export, comments, quotes and equal signs in values', () => {
    const read = parseEnvFile('# keys\n\nA=1\nexport B=two\nC="with space"\nD=\'x\'\nE=a=b#c\nF=\n  G = g\n', '.env');
    expect([...read.variables]).toEqual([
      ['A', '1'],
      ['B', 'two'],
      ['C', 'with space'],
      ['D', 'x'],
      ['E', 'a=b#c'],
      ['F', ''],
      ['G', 'g'],
    ]);
    expect(read.warnings).toEqual([]);
    expect(read.problems).toEqual([]);
  });

  test.each([
    ['A=x \n', 1, 'x', 'white space'],
    ['A=x\r\n', 1, 'x', 'carriage return'],
    ['\nA="x\n', 2, '"x', 'quote at one end'],
    ["A=x'\n", 1, "x'", 'quote at one end'],
    ['A=1\nA=2\n', 2, '2', 'twice'],
  ])('%j is taken with a warning', (text, line, value, warning) => {
    const read = parseEnvFile(text, '/state/.env');
    expect(read.variables.get('A')).toBe(value);
    expect(read.warnings).toEqual([
      expect.objectContaining({
        file: '/state/.env',
        line,
        severity: 'warning',
        message: expect.stringContaining(warning),
      }),
    ]);
    expect(read.problems).toEqual([]);
  });

  test.each([
    ['A=sk-se\u0007cret\n', 'control character'],
    ['A=sk-se\tcret\n', 'control character'],
    ['sk-secret\n', 'KEY=VALUE'],
    ['sk-secret value=1\n', 'KEY=VALUE'],
    ['1A=sk-secret\n', 'before `=`'],
  ])('%j is an error that shows no value', (text, problem) => {
    const read = parseEnvFile(text, '.env');
    expect(read.problems).toEqual([expect.objectContaining({ line: 1, message: expect.stringContaining(problem) })]);
    expect(JSON.stringify([...read.problems, ...read.warnings])).not.toContain('secret');
    expect(read.variables.size).toBe(0);
  });
});

test('keyTail shows the last four characters, of a short key none', () => {
  expect(keyTail('sk-abcdef')).toBe('cdef');
  expect(keyTail('abcd')).toBe('****');
  expect(keyTail('')).toBe('****');
});
