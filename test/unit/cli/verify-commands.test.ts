import { describe, expect, test } from 'vitest';
import { findImportRoots } from '../../../src/cli/init/import-roots.ts';
import { chooseVerifyCommands } from '../../../src/cli/init/verify-commands.ts';

const plain = { executable: '/usr/bin/python3', hasPytest: false };
const pytest = { executable: '/usr/bin/python3', hasPytest: true };

describe('import roots', () => {
  test.each([
    ['src layout', ['src/pkg/__init__.py'], { code: ['src'] }, { roots: ['src'], modules: ['pkg'] }],
    ['src layout, single module', ['src/mod.py'], { code: ['src'] }, { roots: ['src'], modules: ['mod'] }],
    ['flat package', ['pkg/__init__.py'], { code: ['pkg'] }, { roots: ['.'], modules: ['pkg'] }],
    ['flat namespace package', ['pkg/mod.py'], { code: ['pkg'] }, { roots: ['.'], modules: ['pkg'] }],
    ['lib layout', ['lib/pkg/__init__.py'], { code: ['lib'] }, { roots: ['lib'], modules: ['pkg'] }],
    ['lib that is a package', ['lib/__init__.py'], { code: ['lib'] }, { roots: ['.'], modules: ['lib'] }],
    ['module', ['slug.py'], { mods: ['slug.py'] }, { roots: ['.'], modules: ['slug'] }],
    [
      'several projects',
      ['a/src/one/__init__.py', 'b/two/__init__.py'],
      { code: ['a/src', 'b/two'] },
      { roots: ['a/src', 'b'], modules: ['one', 'two'] },
    ],
    ['nothing', [], {}, { roots: [], modules: [] }],
  ])('%s', (_name, paths, vars, expected) => {
    expect(findImportRoots(paths, vars)).toEqual(expected);
  });
});

describe('verify commands', () => {
  const facts = {
    profile: 'python-src',
    vars: { code: ['src'], tests: ['tests'] },
    paths: ['src/pkg/__init__.py', 'tests/test_a.py'],
    python: plain,
  };

  test('unittest when pytest does not import', () => {
    const { environment, quick, full } = chooseVerifyCommands(facts);
    expect(environment).toMatch(/^PYTHONPATH="\$PWD\/src" \/usr\/bin\/python3 -c '.*import_module\("pkg"\)/);
    expect(full).toBe('PYTHONPATH="$PWD/src" /usr/bin/python3 -m unittest discover -s tests');
    expect(quick).toBe(`${full} -f`);
  });

  test('a package of tests is discovered from the top', () => {
    const { full } = chooseVerifyCommands({ ...facts, paths: [...facts.paths, 'tests/__init__.py'] });
    expect(full).toMatch(/-s tests -t \.$/);
  });

  test('pytest when it imports', () => {
    expect(chooseVerifyCommands({ ...facts, python: pytest }).full).toBe(
      'PYTHONPATH="$PWD/src" /usr/bin/python3 -m pytest -q tests',
    );
  });

  test('names that a shell would take apart are quoted', () => {
    const odd = chooseVerifyCommands({
      ...facts,
      vars: { code: ['src'], tests: ["it's tests"] },
      paths: ['src/a/__init__.py', "it's tests/test_a.py"],
    });
    expect(odd.full).toContain(`-s 'it'\\''s tests'`);
  });

  test('nothing is claimed where nothing can run', () => {
    expect(chooseVerifyCommands({ ...facts, python: undefined })).toEqual({});
    expect(Object.keys(chooseVerifyCommands({ ...facts, paths: ['src/pkg/__init__.py'] }))).toEqual(['environment']);
  });

  test('CPython: the gate looks for this Lib, and no suite is claimed without a build', () => {
    const chosen = chooseVerifyCommands({
      ...facts,
      profile: 'cpython',
      paths: ['Lib/argparse.py', 'Lib/test/test_a.py'],
    });
    expect(Object.keys(chosen)).toEqual(['environment']);
    expect(chosen.environment).toContain('"argparse"');
  });
});
