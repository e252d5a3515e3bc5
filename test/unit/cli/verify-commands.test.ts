import { describe, expect, test } from 'vitest';
import { findImportRoots } from '../../../src/cli/init/import-roots.ts';
import { chooseVerifyCommands, roleTestCommand } from '../../../src/cli/init/verify-commands.ts';

const plain = { executable: '/usr/bin/python3', hasPytest: false, version: '3.11.2' };
const pytest = { ...plain, hasPytest: true };

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

  test('a directory of other tests is not handed to Python', () => {
    const mixed = { ...facts, vars: { code: ['src'], tests: ['js_tests', 'tests'] } };
    const { full } = chooseVerifyCommands({ ...mixed, paths: [...facts.paths, 'js_tests/a.test.js'] });
    expect(full).toMatch(/discover -s tests$/);
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

  const cpython = { ...facts, profile: 'cpython', vars: {}, paths: ['Lib/argparse.py', 'Lib/test/test_a.py'] };

  test('CPython: an interpreter of the same minor version runs the tests of what changed', () => {
    const built = { ...cpython, cpythonVersion: '3.11.9' };
    const chosen = chooseVerifyCommands(built);
    expect(chosen.environment).toMatch(/^PYTHONPATH="\$PWD\/Lib" \/usr\/bin\/python3 -c .*import_module\("json"\)/);
    expect(chosen.full).toBe(
      '[ -z "$CHANGED_TESTS" ] || PYTHONPATH="$PWD/Lib" /usr/bin/python3 -m unittest $CHANGED_TESTS',
    );
    expect(chosen.quick).toContain('-m unittest -f $CHANGED_TESTS');
    expect(roleTestCommand(built)).toBe('PYTHONPATH=Lib /usr/bin/python3 -m unittest');
  });

  test('CPython: without one the gate looks for this Lib, and no suite is claimed without a build', () => {
    for (const cpythonVersion of [undefined, '3.12.1', '3.1.1', '4.11.2']) {
      const chosen = chooseVerifyCommands({ ...cpython, cpythonVersion });
      expect(Object.keys(chosen)).toEqual(['environment']);
      expect(chosen.environment).toContain('"argparse"');
      expect(roleTestCommand({ ...cpython, cpythonVersion })).toBeUndefined();
    }
  });

  test('the roles are given a command that tests the workspace, where the usual ones might not', () => {
    expect(roleTestCommand(facts)).toBe('PYTHONPATH=src /usr/bin/python3 -m unittest');
    expect(roleTestCommand({ ...facts, python: pytest })).toBe('PYTHONPATH=src /usr/bin/python3 -m pytest -q');
    const flat = { ...facts, profile: 'python-flat', vars: { code: ['pkg'] }, paths: ['pkg/__init__.py'] };
    expect(roleTestCommand(flat)).toBeUndefined();
    expect(roleTestCommand({ ...facts, python: undefined })).toBeUndefined();
  });
});
