import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Explained } from '../../../src/cli/policy/explain.ts';
import { makePlace, type Place } from './cli-process.ts';

const TEST =
  'import unittest, slug\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(slug.ONE, 1)\n';

/** The marks of a CPython checkout, and a module with its test where CPython has them. */
function cpython(version: string): Readonly<Record<string, string>> {
  return {
    'Include/patchlevel.h': `#define PY_MAJOR_VERSION 3\n#define PY_VERSION              "${version}"\n`,
    'Grammar/python.gram': 'file: ENDMARKER\n',
    'Lib/slug.py': 'ONE = 1\n',
    'Lib/json/__init__.py': '',
    'Lib/keyword.py': 'kwlist = []\niskeyword = frozenset(kwlist).__contains__\n',
    'Lib/test/__init__.py': '',
    'Lib/test/test_slug.py': TEST,
    'Modules/_slug.c': 'int one;\n',
    'Modules/clinic/_slug.c.h': '/* made */\n',
    'Misc/NEWS.d/next/Library/2022-01-01-00-00-00.gh-issue-1.abcdef.rst': 'A change.\n',
    'README.rst': 'Python\n',
    LICENSE: 'free\n',
  };
}

let place: Place;
beforeEach(() => {
  place = makePlace(cpython(versionHere()));
});
afterEach(() => place.remove());

/** Of the interpreter that `init` will find; a checkout of the same version needs no build. */
function versionHere(): string {
  const probe = makePlace();
  const asked = spawnSync('python3', ['-c', 'import platform; print(platform.python_version())'], {
    env: probe.env,
    encoding: 'utf8',
  });
  void probe.remove();
  expect(asked.stdout, asked.stderr).toMatch(/^3\.\d+\.\d+/);
  return asked.stdout.trim();
}

const inRepository = (path: string) => join(place.repository, path);

test('init recognises CPython, finds the interpreter of its version, and leaves no trace in git', async () => {
  const before = readFileSync(inRepository('.git/index')).toString('hex');
  const finished = await place.cli(['init', '--yes', '--json']);
  expect(finished.code, finished.stderr).toBe(0);
  expect(JSON.parse(finished.stdout)).toMatchObject({ profile: 'cpython', vars: { code: [], tests: [], other: [] } });
  expect(place.git('--no-optional-locks', 'status', '--porcelain', '--untracked-files=all')).toBe('');
  expect(readFileSync(inRepository('.git/index')).toString('hex')).toBe(before);
  const global = parse(readFileSync(inRepository('policies/global.yaml'), 'utf8'));
  expect(global.vars.inventory).toMatch(/^sha256:[0-9a-f]{64}$/);
  const { run } = parse(readFileSync(inRepository('policies/roles/test.yaml'), 'utf8'));
  expect(run.allow).toContainEqual(expect.stringMatching(/^PYTHONPATH=Lib \S+python\S* -m unittest \*\*$/));
});

test('the verify commands run this Lib and the tests of what changed', async () => {
  await place.cli(['init', '--yes']);
  const { verify } = parse(readFileSync(inRepository('policies/global.yaml'), 'utf8'));
  const sh = (command: string, changed: string) =>
    spawnSync('sh', ['-c', command], {
      cwd: place.repository,
      env: { ...place.env, CHANGED_TESTS: changed },
      encoding: 'utf8',
    });
  expect(sh(verify.environment, '').status).toBe(0);
  for (const command of [verify.quick, verify.full]) {
    const run = sh(command, 'test.test_slug');
    expect([run.status, run.stderr]).toEqual([0, expect.stringContaining('Ran 1 test')]);
    expect(sh(command, '')).toMatchObject({ status: 0, stderr: '' });
  }
  writeFileSync(inRepository('Lib/slug.py'), 'ONE = 2\n');
  expect(sh(verify.full, 'test.test_slug').status).toBe(1);
  rmSync(inRepository('Lib/json'), { recursive: true });
  const gate = sh(verify.environment, '');
  expect([gate.status, gate.stderr]).toEqual([1, expect.stringContaining('json imports from')]);
});

test('without an interpreter of its version only the gate is claimed', async () => {
  writeFileSync(inRepository('Include/patchlevel.h'), '#define PY_VERSION "3.1.99"\n');
  place.git('commit', '-qam', 'another version');
  await place.cli(['init', '--yes']);
  const { verify } = parse(readFileSync(inRepository('policies/global.yaml'), 'utf8'));
  expect(verify).toEqual({ environment: expect.stringContaining('Lib'), quick: null, full: null });
  expect(spawnSync('sh', ['-c', verify.environment], { cwd: place.repository, env: place.env }).status).toBe(0);
});

test('policy check, explain and show answer as a person asks', async () => {
  await place.cli(['init', '--yes']);
  const checked = await place.cli(['policy', 'check']);
  expect(checked.code).toBe(0);
  expect(checked.stdout).toContain('note: 2 tracked paths belong to no role: LICENSE, README.rst');
  expect(checked.stdout).toContain('policies are sound, 0 warnings');
  const asked = ['Lib/slug.py', 'Lib/test/test_slug.py', 'Modules/_slug.c', 'Modules/clinic/_slug.c.h', 'LICENSE'];
  const explained = (await place.cli(['policy', 'explain', ...asked])).stdout.split('\n');
  const line = (start: RegExp) => explained.find((text) => start.test(text)) ?? '';
  expect(line(/^Lib\/slug\.py +modify +coder +write +Lib\/\*\* /)).toMatch(/policies\/roles\/coder\.yaml:\d+$/);
  expect(line(/^Lib\/test\/test_slug\.py +modify +coder +deny +Lib\/test\/\*\* /)).not.toBe('');
  expect(line(/^Modules\/_slug\.c +modify +coder +ask \(hard\) /)).not.toBe('');
  expect(line(/^Modules\/clinic\/_slug\.c\.h +modify +every role +generated /)).toMatch(/, made by `make clinic`$/);
  expect(line(/^LICENSE +modify +every role +out$/)).not.toBe('');
  const answers = JSON.parse(
    (await place.cli(['policy', 'explain', 'Lib/keyword.py', 'Lib/slug.py', '--json'])).stdout,
  ) as Explained[];
  expect(answers.map((answer) => answer.generator)).toEqual(['make regen-keyword', undefined]);
  expect(answers[0]?.decisions.map((one) => one.role).toSorted()).toEqual(['coder', 'planner', 'reviewer', 'test']);
  const shown = (await place.cli(['policy', 'show', 'coder'])).stdout.split('\n');
  const at = (start: string) => shown.findIndex((text) => text.startsWith(start));
  expect(at('write ')).toBeGreaterThan(at('budget.task '));
  expect(at('global.profile ')).toBeGreaterThan(at('write '));
  expect(shown.filter((text) => text.startsWith('tools '))[0]).toContain(
    '["read","search","edit","write","note","run"]',
  );
  // One glob a line: as one line the list of generated files is 1,200 characters long.
  expect(shown).toContainEqual(expect.stringMatching(/^ +"pyconfig\.h\.in"$/));
});
