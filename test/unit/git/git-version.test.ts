import { expect, test } from 'vitest';
import { readGitVersion, requireGitVersion } from '../../../src/git/start-check.ts';

test.each([
  ['git version 2.38.0', '2.38.0', true],
  ['git version 2.39.5 (Apple Git-154)', '2.39.5', true],
  ['git version 3.0', '3.0', true],
  ['git version 2.37.9.windows.1', '2.37.9', false],
  ['git version 1.99.1', '1.99.1', false],
])('%s', (text, version, isNewEnough) => {
  expect(readGitVersion(text)).toEqual({ version, isNewEnough });
});

test('start refuses what doctor calls too old, and takes what it cannot read', () => {
  expect(() => requireGitVersion('2.37.9')).toThrow('git 2.37.9 is too old: 2.38 or newer is needed');
  expect(() => requireGitVersion('2.39.5')).not.toThrow();
  expect(() => requireGitVersion('built from source')).not.toThrow();
});
