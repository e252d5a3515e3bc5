import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RoleName } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { compileDecider } from '../../../src/policy/decide.ts';
import { detectProfile } from '../../../src/policy/detect.ts';
import { shippedProfile } from '../../../src/policy/shipped-profile.ts';
import { FIXTURES } from './decision-table.ts';

/** Detects in a tree given as `path: text`. */
function detect(tree: Readonly<Record<string, string>> | readonly string[]) {
  const files = Array.isArray(tree)
    ? Object.fromEntries(tree.map((path) => [path, '']))
    : (tree as Record<string, string>);
  return detectProfile({ paths: Object.keys(files), readText: async (path) => files[path] });
}

const CPYTHON = readFileSync(new URL('cpython-paths.txt', FIXTURES), 'utf8').split('\n').filter(Boolean);

describe('detectProfile', () => {
  test('CPython is known by two of its files', async () => {
    const found = await detect(CPYTHON);
    expect(found.profile).toBe('cpython');
    const decider = compileDecider(shippedProfile('cpython', found.vars), new Set());
    const unowned = CPYTHON.filter((path) =>
      ['coder', 'test'].every(
        (role) => decider.decide(role as RoleName, 'modify', path as RepoPath).decision === 'out',
      ),
    );
    expect(unowned).toEqual(['LICENSE', 'README.rst']);
    expect((await detect(CPYTHON.filter((path) => path !== 'Grammar/python.gram'))).profile).not.toBe('cpython');
  });

  test('a src layout', async () => {
    const found = await detect([
      'pyproject.toml',
      'src/pkg/__init__.py',
      'src/pkg/a.py',
      'tests/test_a.py',
      'docs/index.rst',
      '.github/w.yml',
      'changelog.d/1.rst',
      'policies/global.yaml',
      'agent-notes/x.md',
      '.claude/s.json',
      'scripts/x.py',
    ]);
    expect(found.profile).toBe('python-src');
    expect(found.vars).toEqual({
      code: ['src'],
      mods: [],
      tests: ['tests'],
      proj: [],
      other: ['.github', 'docs', 'scripts'],
      not_tests: [],
      vendored: [],
      generated: [],
    });
    expect(found.notes).toEqual([]);
  });

  test('a src layout of a namespace package has no __init__.py', async () => {
    expect((await detect(['pyproject.toml', 'src/ns/pkg/a.py'])).profile).toBe('python-src');
  });

  test('packages at the top; test-like and side directories with __init__.py are none', async () => {
    const found = await detect([
      'setup.py',
      'celery/__init__.py',
      't/__init__.py',
      't/unit/test_a.py',
      'testing/__init__.py',
      'utils/__init__.py',
      'docs/conf.py',
      'Tests/x.png',
    ]);
    expect(found.profile).toBe('python-flat');
    expect(found.vars).toMatchObject({ code: ['celery'], tests: ['Tests', 't', 'testing'], other: ['docs', 'utils'] });
  });

  test('a namespace package at the top goes by the project name', async () => {
    const found = await detect({
      'pyproject.toml': '[project]\nname = "zope.interface"\n',
      'zope/interface/a.py': '',
      'other/b.py': '',
    });
    expect(found.vars).toMatchObject({ code: ['zope'], other: ['other'] });
    expect((await detect(['pyproject.toml', 'zope/interface/a.py'])).vars['code']).toEqual([]);
  });

  test('a lib layout, and modules listed beside packages', async () => {
    expect(await detect(['setup.py', 'lib/yaml/__init__.py', 'lib3/yaml/__init__.py', 'yaml/x.pyx'])).toMatchObject({
      profile: 'python-lib',
      vars: { code: ['lib', 'lib3'], other: ['yaml'] },
    });
    const listed = {
      'setup.py': "setup(name='s', py_modules=['isympy'])",
      'isympy.py': '',
      'sympy/__init__.py': '',
      'x.py': '',
    };
    expect(await detect(listed)).toMatchObject({
      profile: 'python-flat',
      vars: { code: ['sympy'], mods: ['isympy.py'] },
    });
  });

  test('single modules, except helpers, tests and private ones', async () => {
    const found = await detect([
      'setup.py',
      'six.py',
      'conftest.py',
      'test_six.py',
      '_x.py',
      'noxfile.py',
      'documentation/conf.py',
    ]);
    expect(found.profile).toBe('python-module');
    expect(found.vars).toMatchObject({ code: [], mods: ['six.py'], other: ['documentation'] });
    const decider = compileDecider(shippedProfile('python-module', found.vars), new Set());
    expect(decider.decide('coder' as RoleName, 'modify', 'six.py' as RepoPath).decision).toBe('write');
    expect(decider.decide('coder' as RoleName, 'modify', 'setup.py' as RepoPath).decision).toBe('ask');
  });

  test('several projects, with the directories that hold them', async () => {
    const found = await detect([
      'pyproject.toml',
      'a/pyproject.toml',
      'a/src/pa/__init__.py',
      'a/tests/test_a.py',
      'a/docs/x.rst',
      'exporter/b/setup.py',
      'exporter/b/pb/__init__.py',
      'exporter/notes/x.txt',
      'tools/pyproject.toml',
      'tools/t/__init__.py',
      'empty/pyproject.toml',
      'tests/e2e/test_x.py',
      'a/src/pa/inner/setup.py',
    ]);
    expect(found.profile).toBe('python-mono');
    expect(found.vars).toMatchObject({
      code: ['exporter/b/pb', 'a/src'],
      proj: ['a', 'exporter', 'exporter/b'],
      tests: ['a/tests', 'tests'],
      other: ['a/docs', 'empty', 'exporter/notes', 'tools'],
    });
  });

  test('maturin: python/ before src/', async () => {
    const rust = ['pyproject.toml', 'Cargo.toml', 'src/lib.rs', 'python/core/__init__.py'];
    expect(await detect(rust)).toMatchObject({ profile: 'python-src', vars: { code: ['python'], other: ['src'] } });
    const said = {
      'pyproject.toml': '[tool.maturin]\npython-source = "python"\n',
      'python/core/a.py': '',
      'src/a.py': '',
    };
    expect((await detect(said)).vars['code']).toEqual(['python']);
  });

  test('type stub collections', async () => {
    const found = await detect([
      'stdlib/builtins.pyi',
      'stubs/requests/setup.py',
      'stubs/requests/x.pyi',
      'lib/a.py',
      'tests/x.py',
    ]);
    expect(found).toMatchObject({
      profile: 'python-flat',
      vars: { code: ['stdlib', 'stubs'], tests: ['tests'], other: ['lib'] },
    });
  });

  test('anything else is generic and says what to do', async () => {
    const found = await detect(['Makefile', 'main.go', 'pkg/x.go']);
    expect(found).toMatchObject({ profile: 'generic', vars: { code: [], mods: [], other: ['pkg'] } });
    expect(found.notes).toEqual([expect.stringContaining('vars.code')]);
    expect((await detect([])).profile).toBe('generic');
  });

  test('hints: product code named test, vendored trees, generated files', async () => {
    const found = await detect({
      'setup.py': '',
      'django/__init__.py': '',
      'django/test/__init__.py': '',
      'django/test/client.py': '',
      'django/tests/test_x.py': '',
      'django/tests/y.py': '',
      'django/_vendor/vendor.txt': '',
      'django/_vendor/x.py': '',
      'django/_version.py': "# This file was generated by 'versioneer.py'\n",
      'django/version.py': 'V = 1\n',
      'django/parser.py': '# Generated from x.g4. Do not edit.\n',
    });
    expect(found.vars).toMatchObject({
      not_tests: ['django/test/**'],
      vendored: ['django/_vendor'],
      generated: ['django/_version.py', 'django/parser.py'],
    });
    expect(found.notes).toHaveLength(3);
    const decider = compileDecider(shippedProfile(found.profile, found.vars), new Set());
    const of = (role: string, path: string) => decider.decide(role as RoleName, 'modify', path as RepoPath).decision;
    expect(of('coder', 'django/test/client.py')).toBe('write');
    expect(of('test', 'django/test/client.py')).toBe('out');
    expect(of('coder', 'django/tests/y.py')).toBe('deny');
    expect(of('coder', 'django/parser.py')).toBe('generated');
    expect(of('coder', 'django/version.py')).toBe('write');
  });

  test('a code root under a static ask directory is named', async () => {
    const found = await detect([
      'contrib/x/pyproject.toml',
      'contrib/x/src/x/__init__.py',
      'setup.py',
      'pkg/__init__.py',
    ]);
    expect(found.notes).toEqual([
      expect.stringContaining('contrib/x/src holds code but has the name of a side directory'),
    ]);
  });

  test('names with special characters become globs that match them', async () => {
    const paths = [
      'setup.py',
      '{{cookiecutter.x}}/__init__.py',
      '{{cookiecutter.x}}/a.py',
      'odd*[x]/f',
      'do(cs)/f',
      '!bang/f',
    ];
    const found = await detect(paths);
    const decider = compileDecider(shippedProfile(found.profile, found.vars), new Set());
    for (const path of paths.slice(1)) {
      const expected = path.startsWith('{') ? 'write' : 'ask';
      expect([path, decider.decide('coder' as RoleName, 'modify', path as RepoPath).decision]).toEqual([
        path,
        expected,
      ]);
    }
  });

  test('every path of a detected tree has an owner, and new top directories have none', async () => {
    const paths = [
      'pyproject.toml',
      'src/p/__init__.py',
      'tests/x.py',
      'weird/y.z',
      '.hidden/f',
      'docs/a.rst',
      'LICENSE',
    ];
    const found = await detect(paths);
    const decider = compileDecider(shippedProfile(found.profile, found.vars), new Set());
    const owned = (path: string) =>
      ['coder', 'test'].some((role) =>
        ['ask', 'write'].includes(decider.decide(role as RoleName, 'modify', path as RepoPath).decision),
      );
    expect(paths.filter((path) => !owned(path))).toEqual([]);
    expect(owned('brandnew/x.py')).toBe(false);
  });
});

describe('the inventory hash', () => {
  const base = ['setup.py', 'pkg/__init__.py', 'tests/test_a.py', 'docs/x'];

  test('stays for files that come and go, and for the policies themselves', async () => {
    const { hash } = await detect(base);
    expect((await detect([...base, 'pkg/b.py', 'README.md'])).hash).toBe(hash);
    expect((await detect([...base, 'policies/global.yaml', 'agent-notes/coder.md'])).hash).toBe(hash);
    expect((await detect(base.toReversed())).hash).toBe(hash);
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/u);
  });

  test('changes with a new directory, package or test root', async () => {
    const { hash } = await detect(base);
    for (const path of ['other/x', 'pkg2/__init__.py', 'testing/x'])
      expect((await detect([...base, path])).hash).not.toBe(hash);
  });
});
