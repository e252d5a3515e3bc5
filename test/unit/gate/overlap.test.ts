import { expect, test } from 'vitest';
import type { Change } from '../../../src/domain/decision.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { overlappingPaths } from '../../../src/gate/overlap.ts';

const change = (path: string, operation: Change['operation'] = 'modify'): Change => ({
  path: path as RepoPath,
  operation,
  oldMode: '100644',
  newMode: '100644',
  oldBlob: '',
  newBlob: '',
});
const overlap = (changes: Change[], dirty: string[], existing: string[] = []) =>
  overlappingPaths({ changes, dirty: dirty as RepoPath[], existing: existing as RepoPath[] });

test.each([
  ['the same path', 'a/b', 'a/b'],
  ['a file where a directory is needed', 'a/b', 'a'],
  ['a file in a directory that becomes a file', 'a', 'a/b'],
  ['an untracked directory that becomes a file', 'a', 'a/'],
])('%s overlaps', (_name, changed, dirty) => {
  expect(overlap([change(changed)], [dirty])).toEqual([dirty]);
});

test.each([
  ['a neighbour', 'a/b', 'a/c'],
  ['a longer name', 'a/b', 'a/bc'],
  ['a name that only begins the same', 'ab/c', 'a'],
  ['an untracked directory beside the change', 'a/b', 'a/c/'],
])('%s does not', (_name, changed, dirty) => {
  expect(overlap([change(changed)], [dirty])).toEqual([]);
});

test('what lies where a file is to be created overlaps, unless it is a directory that the change empties', () => {
  const toFile = [change('a', 'create'), change('a/b', 'delete')];
  expect(overlap(toFile, [], ['a'])).toEqual([]);
  expect(overlap([change('a', 'create')], [], ['a'])).toEqual(['a']);
});
