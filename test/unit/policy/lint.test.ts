import { afterEach, expect, test } from 'vitest';
import type { RepoPath } from '../../../src/domain/path.ts';
import { lintPolicies } from '../../../src/policy/lint.ts';
import { loadPolicySet } from '../../../src/policy/load.ts';
import { renderPolicies } from '../../../src/policy/render-policies.ts';
import { type PolicyDirectory, writePolicies } from './policy-directory.ts';

let made: PolicyDirectory | undefined;
afterEach(() => made?.remove());

function lint(files: Readonly<Record<string, string>>, paths: readonly string[]) {
  made = writePolicies(files);
  const loaded = loadPolicySet({ directory: made.directory, variables: new Map() });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return lintPolicies(loaded.set, paths as RepoPath[]);
}

const GLOBAL = 'version: 2\npipeline: [coder, test]\n';
const coder = (lists: string): string => `version: 2\nrole: coder\n${lists}`;
const TEST = 'version: 2\nrole: test\nwrite: ["tests/**"]\n';

test('a glob that matches nothing, or only in another case, is a warning at its line', () => {
  const { problems } = lint(
    {
      'global.yaml': GLOBAL,
      'roles/coder.yaml': coder('write: ["src/**"]\nask:\n  - "Docs/**"\n  - "nothing/**"\n'),
      'roles/test.yaml': TEST,
    },
    ['src/a.py', 'docs/x.rst', 'tests/t.py'],
  );
  expect(problems).toEqual([
    expect.objectContaining({
      severity: 'warning',
      file: 'policies/roles/coder.yaml',
      line: 5,
      message: expect.stringContaining('only in case from docs/x.rst'),
    }),
    expect.objectContaining({
      file: 'policies/roles/coder.yaml',
      line: 6,
      message: expect.stringContaining('matches no tracked path'),
    }),
  ]);
});

test('two roles that may write one path are a warning, once per pair of globs', () => {
  const { problems } = lint(
    { 'global.yaml': GLOBAL, 'roles/coder.yaml': coder('write: ["src/**", "tests/**"]\n'), 'roles/test.yaml': TEST },
    ['src/a.py', 'tests/t.py', 'tests/u.py'],
  );
  expect(problems.map((problem) => problem.message)).toEqual([
    'glob "tests/**" (test write) overlaps "tests/**" (coder write), for example at tests/t.py',
  ]);
});

test('paths that nobody owns are counted, the first few named', () => {
  const paths = ['src/a.py', ...Array.from({ length: 9 }, (_, index) => `left/${index}`), '.env', 'tests/t.py'];
  const { unowned, problems } = lint(
    { 'global.yaml': GLOBAL, 'roles/coder.yaml': coder('write: ["src/**"]\n'), 'roles/test.yaml': TEST },
    paths,
  );
  expect(unowned).toEqual({ count: 9, first: ['left/0', 'left/1', 'left/2', 'left/3', 'left/4'] });
  expect(problems).toEqual([]);
});

test('shipped globs that match nothing here are not reported', () => {
  const files = renderPolicies({
    profile: 'python-src',
    vars: { code: ['src'], tests: ['tests'], other: ['docs'] },
    inventoryHash: 'sha256:0',
    roles: ['planner', 'coder', 'test', 'reviewer'],
    allowSharedKey: false,
    verify: {},
  });
  const { problems, unowned } = lint(
    Object.fromEntries([...files].map(([path, text]) => [path.slice('policies/'.length), text])),
    ['src/a.py', 'tests/test_a.py', 'docs/x.rst', 'setup.py'],
  );
  expect(problems).toEqual([]);
  expect(unowned.count).toBe(0);
});
