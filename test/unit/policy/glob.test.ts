import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlobs } from '../../../src/policy/glob.ts';
import { globProblem } from '../../../src/policy/glob-check.ts';

function matches(glob: string, path: string, foldCase = false): boolean {
  return compileGlobs([glob], { foldCase }).matches(path);
}

describe('compileGlobs', () => {
  test.each([
    ['src/**', 'src/.env', true],
    ['**/*.py', '.github/x.py', true],
    ['**/*.py', 'x.py', true],
    ['src/generated/**', 'src/generated/a\nb.c', true],
    ['src/**', 'src/a\n/b', true],
    ['src/**', 'src', true],
    ['src/**', 'srcfoo/x', false],
    ['src/*', 'src/a/b', false],
    ['src', 'src/a', false],
    ['a?b', 'a😀b', true],
    ['a?b', 'a/b', false],
    ['[^a]b', 'cb', true],
    ['[^a]b', 'ab', false],
    ['{a,b}/x', 'b/x', true],
    ['!(six.py)', 'setup.py', true],
    ['!(six.py)', 'six.py', false],
    ['!(six.py)', 'docs/x', false],
    ['**/.env.!(example|sample)', 'a/.env.local', true],
    ['**/.env.!(example|sample)', 'a/.env.example', false],
    ['Misc/!(NEWS.d)/**', 'Misc/rhel7/x', true],
    ['Misc/!(NEWS.d)/**', 'Misc/NEWS.d/3.14.rst', false],
    ['src/a', './src/a', false],
    ['src/Café.py', 'src/Cafe\u0301.py', false],
    ['a,b/#x y/@z', 'a,b/#x y/@z', true],
    ['- *', '- x', true],
    ['-a/**', '-a/b-c', true],
    ['a - b/*', 'a - b/x', true],
    ['[a-c]-[^x-z]', 'b-a', true],
    ['[a-c]-[^x-z]', 'b-y', false],
  ])('%s on %j is %s', (glob, path, expected) => {
    expect(matches(glob, path)).toBe(expected);
  });

  test.each([
    ['.claude/**', '.Claude/settings.json'],
    ['.cursor/**', '.cur\u017for/x'],
    ['src/Café.py', 'SRC/CAFE\u0301.PY'],
    ['**/{AGENTS,CLAUDE}.md', 'docs/agents.MD'],
  ])('folding, %s covers %j, which is another file without folding', (glob, path) => {
    expect(matches(glob, path, true)).toBe(true);
    expect(matches(glob, path)).toBe(false);
  });

  test('names the first glob that matches', () => {
    const list = compileGlobs(['docs/**', 'src/*.py', 'src/**'], { foldCase: false });
    expect(list.firstMatch('src/a.py')).toBe(1);
    expect(list.firstMatch('src/a/b.py')).toBe(2);
    expect(list.firstMatch('x')).toBeUndefined();
  });

  test('an empty list matches nothing', () => {
    expect(compileGlobs([], { foldCase: false }).matches('a')).toBe(false);
  });
});

describe('globProblem', () => {
  test.each([
    ['', 'is empty'],
    ['/src/**', 'starts with `/`'],
    ['src\\**', 'backslash'],
    ['../x', '`..`'],
    ['a/../b', '`..`'],
    ['./src/**', '`.`'],
    ['a//b', '`//`'],
    ['src/', 'ends with `/`'],
    ['!src/**', 'starts with `!`'],
    ['src/**.py', 'must stand alone'],
    ['a/***', '`***`'],
    ['a(b|c)', 'holds `(`'],
    ['+(a|b)', 'holds `(`'],
    ['{a,b}+', 'repeats'],
    ['!(a)*', 'repeats'],
    ['a{b', 'braces'],
    ['a}b', 'braces'],
    ['a[b', 'braces'],
    ['{1..100000}', 'braces'],
    ['*a*a*a*b', 'more than 3 `*`'],
    ['*a*a*a/*a*a*z', 'too many'],
    ['*a*a*/*a*b', 'too many'],
    ['**/*a*/**/*a*', 'too many'],
    ['**/a/**/b/**/c/**/d', 'more than 3 `**`'],
  ])('%j is refused: %s', (glob, problem) => {
    expect(globProblem(glob)).toContain(problem);
  });

  test.each([
    '**/{test_*,*_test,*_tests,conftest}.py',
    '*a*b*c',
    '**/a/**/b/**/c/**',
    '!(a|b)/**',
    '@tests/**',
    '{a,b}*',
    'a[-_]*/**',
  ])('%j is fine', (glob) => {
    expect(globProblem(glob)).toBeUndefined();
  });

  test('every accepted shape stays fast on paths made to be slow', () => {
    const globs = [
      '*a*a*b',
      '**/*a*a*b',
      '**/a/**/a/**/*z',
      '*a*/*a*z',
      '**/a/**/*a*z',
      '**/!(*a)b',
      '**/a/**/a*/**/z',
    ];
    const paths = ['a/'.repeat(511), `${'a'.repeat(255)}/`.repeat(4), 'a'.repeat(1024), 'aaaa/'.repeat(204)];
    for (const glob of globs) {
      expect(globProblem(glob)).toBeUndefined();
      const list = compileGlobs([glob], { foldCase: false });
      const start = performance.now();
      for (const path of paths) list.matches(path);
      expect(performance.now() - start).toBeLessThan(3000);
    }
  });
});

const segment = fc.constantFrom('a', 'b', 'src', 'test_x', '*', '*.py', '{a,b}', '!(a)', '[ab]c', '?');
const glob = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.boolean())
  .map(([parts, deepStart, deepEnd]) => [...(deepStart ? ['**'] : []), ...parts, ...(deepEnd ? ['**'] : [])].join('/'))
  .filter((text) => globProblem(text) === undefined);
const path = fc
  .array(fc.constantFrom('a', 'b', 'c', 'ac', 'src', 'test_x', 'x.py', '.env', 'é\n'), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'));

describe('matching', () => {
  test('adding a glob never loses a path, and order does not matter', () => {
    fc.assert(
      fc.property(fc.array(glob, { maxLength: 4 }), glob, path, (globs, extra, candidate) => {
        const before = compileGlobs(globs, { foldCase: false }).matches(candidate);
        const after = compileGlobs([...globs, extra], { foldCase: false }).matches(candidate);
        const turned = compileGlobs([extra, ...globs.toReversed()], { foldCase: false }).matches(candidate);
        expect(after).toBe(turned);
        expect(after || !before).toBe(true);
      }),
    );
  });

  test('folding case never loses a path', () => {
    fc.assert(
      fc.property(glob, path, (one, candidate) => {
        if (!one.includes('!') && matches(one, candidate))
          expect(matches(one, candidate.toUpperCase(), true)).toBe(true);
      }),
    );
  });

  test('the joined expression agrees with each glob by itself', () => {
    fc.assert(
      fc.property(fc.array(glob, { minLength: 1, maxLength: 4 }), path, (globs, candidate) => {
        const joined = compileGlobs(globs, { foldCase: false }).firstMatch(candidate);
        const alone = globs.findIndex((one) => matches(one, candidate));
        expect(joined ?? -1).toBe(alone);
      }),
    );
  });
});
