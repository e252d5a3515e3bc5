import { expect, test } from 'vitest';
import { branchRef } from '../../../src/gate/branch-name.ts';

test.each(['topic', 'feature/x.1', 'a_b-c', '\u00e9t\u00e9', 'x@y'])('%j is a branch', (name) => {
  expect(branchRef(name)).toBe(`refs/heads/${name}`);
});

test.each([
  ...[
    '',
    '@',
    'HEAD',
    '-f',
    '--upload-pack=x',
    '@{-1}',
    'a..b',
    'a b',
    'a\nb',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
  ],
  ...['/a', 'a/', 'a//b', '.a', 'a/.b', 'a.lock', 'a.lock/b', 'a.', 'a\x7f'],
])('%j is none', (name) => {
  expect(() => branchRef(name)).toThrow(/is not a branch name/);
});
