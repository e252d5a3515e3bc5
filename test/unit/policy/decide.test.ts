import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Decision } from '../../../src/domain/decision.ts';
import type { RoleName } from '../../../src/domain/ids.ts';
import { normalizeRepoPath, type RepoPath } from '../../../src/domain/path.ts';
import { askClassOf } from '../../../src/policy/ask-class.ts';
import { type Boundary, compileDecider } from '../../../src/policy/decide.ts';
import type { Rule } from '../../../src/policy/policy.ts';
import { PROFILE_NAMES } from '../../../src/policy/profile-file.ts';
import { shippedProfile } from '../../../src/policy/shipped-profile.ts';
import { groupRows, readDecisionTable } from './decision-table.ts';

const CODER = 'coder' as RoleName;
const TEST = 'test' as RoleName;

function rules(globs: readonly string[] = []): readonly Rule[] {
  return globs.map((glob, index) => ({ glob, origin: `policies/roles/coder.yaml:${index + 1}` }));
}

function decider(
  lists: Partial<
    Record<'never' | 'generated' | 'deny' | 'ask' | 'write' | 'notDeny' | 'notWrite' | 'createOnly', string[]>
  >,
  options: { createOnlyElse?: 'ask' | 'deny'; foldCase?: boolean; generated?: string[]; attributes?: boolean } = {},
) {
  const boundary: Boundary = {
    write: rules(lists.write),
    deny: rules(lists.deny),
    ask: rules(lists.ask),
    createOnly: rules(lists.createOnly),
    createOnlyElse: options.createOnlyElse ?? 'deny',
    notDeny: rules(lists.notDeny),
    notWrite: rules(lists.notWrite),
  };
  return compileDecider(
    {
      global: {
        never: rules(lists.never),
        generated: {
          globs: rules(lists.generated),
          ...(options.attributes === false ? { fromGitattributes: false } : {}),
        },
      },
      roles: new Map([[CODER, boundary]]),
    },
    new Set((options.generated ?? []) as RepoPath[]),
    { foldCase: options.foldCase ?? false },
  );
}

function decide(made: ReturnType<typeof decider>, path: string, operation: 'create' | 'modify' | 'delete' = 'create') {
  return made.decide(CODER, operation, path as RepoPath);
}

describe('decision order', () => {
  test.each<[readonly string[], Decision]>([
    [['never', 'generated', 'deny', 'ask', 'write'], 'never'],
    [['generated', 'deny', 'ask', 'write'], 'generated'],
    [['deny', 'ask', 'write'], 'deny'],
    [['ask', 'write'], 'ask'],
    [['write'], 'write'],
    [[], 'out'],
  ])('a path in %j is %s', (lists, expected) => {
    const made = decider(Object.fromEntries(lists.map((list) => [list, ['a/**']])));
    expect(decide(made, 'a/b.py').decision).toBe(expected);
  });

  test('the rule and its place come along', () => {
    const made = decider({ write: ['x/**', 'a/**'] });
    expect(decide(made, 'a/b')).toEqual({ decision: 'write', rule: 'a/**', origin: 'policies/roles/coder.yaml:2' });
  });

  test('attributes of the base tree are generated, before deny, unless switched off', () => {
    const lists = { deny: ['a/**'], write: ['b/**'] };
    expect(decide(decider(lists, { generated: ['a/x'] }), 'a/x')).toMatchObject({
      decision: 'generated',
      origin: '.gitattributes of the base tree',
    });
    expect(decide(decider(lists, { generated: ['a/x'] }), 'a/y').decision).toBe('deny');
    expect(decide(decider(lists, { generated: ['b/x'], attributes: false }), 'b/x').decision).toBe('write');
  });

  test('exceptions take a path out of deny and out of write', () => {
    const made = decider({ deny: ['**/test/**'], notDeny: ['django/test/**'], write: ['**'], notWrite: ['keep/**'] });
    expect(decide(made, 'django/test/client.py').decision).toBe('write');
    expect(decide(made, 'other/test/client.py').decision).toBe('deny');
    expect(decide(made, 'keep/x').decision).toBe('out');
  });

  test('what is create-only is the other decision once it exists', () => {
    const lists = { write: ['news/**'], createOnly: ['news/**'] };
    expect(decide(decider(lists), 'news/1.rst', 'create').decision).toBe('write');
    expect(decide(decider(lists), 'news/1.rst', 'modify').decision).toBe('deny');
    expect(decide(decider(lists, { createOnlyElse: 'ask' }), 'news/1.rst', 'delete')).toMatchObject({
      decision: 'ask',
      askClass: 'text',
    });
  });

  test('a folding volume folds everything but write', () => {
    const lists = { never: ['.claude/**'], deny: ['tests/**'], ask: ['docs/**'], write: ['src/**'] };
    const folding = decider(lists, { foldCase: true });
    expect(decide(folding, '.Claude/x').decision).toBe('never');
    expect(decide(folding, 'TESTS/x').decision).toBe('deny');
    expect(decide(folding, 'Docs/x').decision).toBe('ask');
    expect(decide(folding, 'SRC/x').decision).toBe('out');
    expect(decide(folding, 'src/x').decision).toBe('write');
    expect(decide(decider(lists), 'TESTS/x').decision).toBe('out');
  });

  test('an unknown role has nothing, but never stays never', () => {
    const made = decider({ never: ['.env'], write: ['**'] });
    expect(made.decide('ghost' as RoleName, 'create', 'a' as RepoPath).decision).toBe('out');
    expect(made.decide('ghost' as RoleName, 'create', '.env' as RepoPath).decision).toBe('never');
    expect(made.isNever('.env' as RepoPath)).toBe(true);
    expect(made.isNever('env' as RepoPath)).toBe(false);
  });

  test("a path of over 1,024 characters is nobody's", () => {
    const made = decider({ write: ['**'] });
    expect(decide(made, 'a'.repeat(1024)).decision).toBe('write');
    expect(decide(made, 'a'.repeat(1025)).decision).toBe('out');
  });

  test('static deny directories leave out wildcards and those with exceptions', () => {
    const made = decider({
      deny: ['tests/**', 'a/b/**', '**/test/**', 'django/**', '{x,y}/**', 'f.py'],
      notDeny: ['django/test/**'],
    });
    expect(made.staticDenyDirectories(CODER)).toEqual(['tests', 'a/b']);
    expect(decider({ deny: ['tests/**'], notDeny: ['**/x.py'] }).staticDenyDirectories(CODER)).toEqual([]);
    expect(made.staticDenyDirectories('ghost' as RoleName)).toEqual([]);
  });
});

test.each([
  ['README', 'text'],
  ['docs/README.rst', 'text'],
  ['LICENSE.txt', 'text'],
  ['CHANGES', 'text'],
  ['HISTORY.md', 'text'],
  ['docs/index.rst', 'text'],
  ['notes/a.md', 'text'],
  ['requirements.txt', 'hard'],
  ['requirements-dev.txt', 'hard'],
  ['docs/AGENTS.md', 'hard'],
  ['CLAUDE.md', 'hard'],
  ['GEMINI.md', 'hard'],
  ['setup.py', 'hard'],
  ['.github/workflows/ci.yml', 'hard'],
  ['src/x.c', 'hard'],
])('an ask for %s is %s', (path, expected) => {
  expect(askClassOf(path as RepoPath)).toBe(expected);
});

describe('shipped profiles', () => {
  const table = groupRows(readDecisionTable());

  test('what is denied to coder as a test has an owner in test', () => {
    let denied = 0;
    for (const group of table) {
      const profile = shippedProfile(group[0]?.profile as (typeof PROFILE_NAMES)[number], group[0]?.vars);
      const made = compileDecider(profile, new Set());
      const more = [
        'x/tests/y.py',
        'test_root.py',
        'a/conftest.py',
        'TESTS/x',
        'a-testdata/y',
        'tests-2/z',
        'Lib/x/tests/y.py',
      ];
      for (const path of [...group.map((row) => row.path), ...more]) {
        for (const operation of ['create', 'modify', 'delete'] as const) {
          if (made.decide(CODER, operation, path as RepoPath).decision !== 'deny') continue;
          if (/\.(c|h|pyx)$/u.test(path)) continue;
          const owner = made.decide(TEST, operation, path as RepoPath).decision;
          if (profile.name === 'cpython' && !path.startsWith('Lib/')) continue;
          denied += 1;
          expect(`${path} ${owner}`).toMatch(/ (write|ask)$/u);
        }
      }
    }
    expect(denied).toBeGreaterThan(100);
  });

  test('control plane and secrets are never, for every role and operation', () => {
    const paths = [
      'policies/global.yaml',
      'policies/roles/coder.yaml',
      'policies/agents/1.yaml',
      '.git/config',
      '.env',
      'a/.netrc',
    ];
    for (const name of PROFILE_NAMES) {
      const profile = shippedProfile(name);
      const made = compileDecider(profile, new Set());
      for (const role of profile.roles.keys()) {
        for (const path of paths) expect(made.decide(role, 'modify', path as RepoPath).decision).toBe('never');
      }
      expect(made.decide(CODER, 'create', 'policies/python-src/profile.yaml' as RepoPath).decision).not.toBe('never');
    }
  });

  test('other modules than the example change what the top of the repository asks for', () => {
    const made = compileDecider(shippedProfile('python-module', { mods: ['six.py'] }), new Set());
    expect(made.decide(CODER, 'modify', 'six.py' as RepoPath).decision).toBe('write');
    expect(made.decide(CODER, 'modify', 'mymod.py' as RepoPath).decision).toBe('ask');
  });

  test('an empty list drops its patterns', () => {
    const made = compileDecider(shippedProfile('python-src', { code: [] }), new Set());
    expect(made.decide(CODER, 'create', 'src/x.py' as RepoPath).decision).toBe('out');
    const kept = compileDecider(shippedProfile('python-src'), new Set());
    expect(kept.decide(CODER, 'create', 'src/x.py' as RepoPath).decision).toBe('write');
  });

  test('the top as code root drops the segment', () => {
    const made = compileDecider(shippedProfile('python-src', { code: ['.'], notmods: [] }), new Set());
    expect(made.decide(CODER, 'create', 'pkg/x.py' as RepoPath).decision).toBe('write');
    expect(made.decide(CODER, 'create', 'pkg/migrations/1.py' as RepoPath).decision).toBe('ask');
  });
});

test('ways to write one path lead to one decision', () => {
  const made = decider({ deny: ['src/secret/**'], write: ['src/**'] });
  const part = fc.constantFrom('src', 'secret', 'a', 'b.py');
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.nat(3), (parts, detour) => {
      const plain = parts.join('/');
      const around = [...parts.slice(0, detour), 'x', '..', '.', '', ...parts.slice(detour)]
        .join('/')
        .replace(/^\/+/u, '');
      const normal = normalizeRepoPath(around);
      expect(normal).toBe(plain);
      if (normal !== undefined) expect(decide(made, normal)).toEqual(decide(made, plain));
    }),
  );
});
