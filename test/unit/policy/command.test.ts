import { describe, expect, test } from 'vitest';
import { isCommandAllowed } from '../../../src/policy/command.ts';

const PATTERNS = ['./python -m test **', 'git diff **', 'git status', 'pytest tests/*.py', 'echo **'];

describe('isCommandAllowed', () => {
  test.each([
    'git status',
    '  git status  ',
    'git diff',
    'git diff --stat HEAD',
    './python -m test -j2 test_abc',
    'pytest tests/test_a.py',
    'echo "a; b & c | d > e"',
    "echo '$(rm x) `y`'",
    'echo "two\nlines"',
    'echo \\; done',
    'echo $HOME',
    'echo a#b',
  ])('%j is allowed', (command) => {
    expect(isCommandAllowed(PATTERNS, command)).toEqual({ allowed: true });
  });

  test.each([
    'git statusx',
    'git diffx',
    'git status --short',
    'pytest tests/a b.py',
    'pytest tests/a.py --x',
    'rm -rf .',
    '',
    'git diff; rm x',
    'git diff && rm x',
    'git diff & rm x',
    'git diff | sh',
    'git diff > x',
    'git diff < x',
    'git diff $(rm x)',
    'git diff "$(rm x)"',
    'git diff `rm x`',
    'git diff "`rm x`"',
    'git diff\nrm x',
    'git diff \\\nrm',
    "git diff $'\\'' ; rm x '",
    "git diff # '\nrm x\n# '",
    "git diff 'open",
    'git diff "\\"; rm x',
  ])('%j is refused, with a reason', (command) => {
    const verdict = isCommandAllowed(PATTERNS, command);
    expect(verdict.allowed).toBe(false);
    expect(verdict.allowed ? '' : verdict.reason).not.toBe('');
  });

  test('** alone allows everything, newlines included', () => {
    expect(isCommandAllowed(['**'], 'a;\nb | c $(d)')).toEqual({ allowed: true });
  });

  test('an empty list allows nothing and says so', () => {
    expect(isCommandAllowed([], 'ls')).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('run.allow is empty'),
    });
  });

  test('a pattern of many stars stays fast', () => {
    const start = performance.now();
    expect(isCommandAllowed([`${'*a'.repeat(40)}b`], 'a'.repeat(5000)).allowed).toBe(false);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
