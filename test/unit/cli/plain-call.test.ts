import { expect, test } from 'vitest';
import { readPlainCall } from '../../../src/cli/program/plain-call.ts';
import { VERB_GROUPS } from '../../../src/cli/program/verbs.ts';

const read = (...argv: string[]) => {
  const call = readPlainCall(argv, VERB_GROUPS);
  return call === undefined ? 'parser' : { verb: call.verb?.usage, ...call.common };
};
const PLAIN = { json: false, directory: undefined, quiet: false, color: true, version: false };

test('a verb alone, or with the switches of every command, needs no parser', () => {
  expect(read('status')).toEqual({ verb: 'status', ...PLAIN });
  expect(read('--json', 'status', '-q')).toEqual({ verb: 'status', ...PLAIN, json: true, quiet: true });
  expect(read('runs', '--quiet', '--no-color')).toEqual({ verb: 'runs', ...PLAIN, quiet: true, color: false });
  expect(read()).toEqual({ verb: undefined, ...PLAIN });
});

test.each([
  [['run', 'a request']],
  [['report', '--by', 'day']],
  [['status', '--help']],
  [['-h']],
  [['--version']],
  [['-C', '/tmp', 'status']],
  [['-C/tmp', 'status']],
  [['-qC', '/tmp']],
  [['statsu']],
  [['status', 'status']],
  [['policy']],
  [['land']],
  [['--', 'status']],
  [['']],
])('the parser reads %j', (argv) => {
  expect(read(...argv)).toBe('parser');
});
