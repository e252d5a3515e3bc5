import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RepoPath } from '../../../src/domain/path.ts';
import { foldName, isGitAlias, nameProblems } from '../../../src/gate/names.ts';

const paths = (...names: string[]) => names as RepoPath[];
const kinds = (all: RepoPath[], introduced: RepoPath[]) =>
  nameProblems(all, new Set(introduced)).map(({ path, special }) => [path, special]);

test.each([
  '.git',
  '.GIT',
  '.gIt',
  '.g\u200cit',
  '\ufeff.git',
  '.git\u202e',
  '.git.',
  '.git ',
  '.git . .',
  'git~1',
  'GIT~1',
  '.git::$INDEX_ALLOCATION',
  '.git:x',
  'git~1.',
])('%j is .git to some file system', (component) => {
  expect(isGitAlias(component)).toBe(true);
  expect(kinds(paths(`a/${component}/config`), [])).toEqual([[`a/${component}/config`, 'git-alias']]);
});

test.each(['.gitignore', '.github', 'git', '.gi', 'git~2', 'x.git', 'dot.git.py', '.gitmodules'])(
  '%j is not',
  (component) => {
    expect(isGitAlias(component)).toBe(false);
    expect(kinds(paths(`a/${component}/config`), paths(`a/${component}/config`))).toEqual([]);
  },
);

test('backslashes and trailing dots and spaces are refused where they are new and left alone where they are old', () => {
  const odd = paths('a\\b', 'c./d', 'e ');
  expect(kinds(odd, odd)).toEqual([
    ['a\\b', 'backslash'],
    ['c./d', 'trailing-dot-or-space'],
    ['e ', 'trailing-dot-or-space'],
  ]);
  expect(kinds(odd, [])).toEqual([]);
});

test.each([
  ['case', 'Lib/a.py', 'Lib/A.py'],
  ['case of a directory', 'Lib/a.py', 'lib/b.py'],
  ['Unicode form', 'caf\u00e9', 'cafe\u0301'],
  ['sharp s', 'stra\u00dfe', 'STRASSE'],
  ['ligature', '\ufb01le', 'file'],
  ['a file where a directory is', 'data/x', 'DATA'],
])('collision by %s: refused when new, kept when both were there', (_name, old, fresh) => {
  expect(kinds(paths(old, fresh), paths(fresh))).toEqual([[fresh, 'name-collision']]);
  expect(
    kinds(paths(old, fresh), paths(old, fresh))
      .map(([path]) => path)
      .sort(),
  ).toEqual([old, fresh].sort());
  expect(kinds(paths(old, fresh), [])).toEqual([]);
});

test('a new file in one of two directories that the base holds side by side is no collision', () => {
  expect(kinds(paths('Docs/a', 'docs/b', 'docs/new'), paths('docs/new'))).toEqual([]);
  expect(kinds(paths('Docs/a', 'docs/b', 'docs/A'), paths('docs/A'))).toEqual([['docs/A', 'name-collision']]);
});

test('I10: what passes has no two paths that fold to one, unless neither is new', () => {
  const name = fc.stringMatching(/^[aAbB\u00e9]{1,2}(\/[aAbB\u00e9]{1,2})?$/);
  const trees = fc
    .uniqueArray(fc.record({ path: name, isNew: fc.boolean() }), { maxLength: 10, selector: ({ path }) => path })
    .map((entries) => entries.filter(({ path }) => !entries.some((other) => other.path.startsWith(`${path}/`))));
  fc.assert(
    fc.property(trees, (entries) => {
      const introduced = paths(...entries.filter(({ isNew }) => isNew).map(({ path }) => path));
      const all = paths(...entries.map(({ path }) => path));
      const collides = introduced.some((path) =>
        all.some((other) => other !== path && foldName(other) === foldName(path)),
      );
      if (collides) expect(nameProblems(all, new Set(introduced))).not.toEqual([]);
    }),
    { numRuns: 2000 },
  );
});
