import { afterAll, describe, expect, test } from 'vitest';
import type { RoleName } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { compileDecider } from '../../../src/policy/decide.ts';
import { parseEnvFile } from '../../../src/policy/env-file.ts';
import { loadPolicySet } from '../../../src/policy/load.ts';
import { PROFILE_NAMES, type ProfileName, profileNamed } from '../../../src/policy/profile-file.ts';
import { renderPolicies } from '../../../src/policy/render-policies.ts';
import { renderAgentNotes, renderEnvTemplate } from '../../../src/policy/render-templates.ts';
import { shippedProfile } from '../../../src/policy/shipped-profile.ts';
import { groupRows, readDecisionTable, TABLE_ROLES } from './decision-table.ts';
import { type PolicyDirectory, writePolicies } from './policy-directory.ts';

const ROLES = ['planner', 'coder', 'test', 'reviewer'];
const made: PolicyDirectory[] = [];
afterAll(() => {
  for (const directory of made) directory.remove();
});

function render(profile: ProfileName, more: Partial<Parameters<typeof renderPolicies>[0]> = {}): PolicyDirectory {
  const files = renderPolicies({
    profile,
    vars: {},
    inventoryHash: 'sha256:0',
    roles: ROLES,
    allowSharedKey: false,
    verify: {},
    ...more,
  });
  const directory = writePolicies(
    Object.fromEntries([...files].map(([path, text]) => [path.replace(/^policies\//u, ''), text])),
  );
  made.push(directory);
  return directory;
}

function load(directory: PolicyDirectory) {
  const loaded = loadPolicySet({ directory: directory.directory, variables: new Map() });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.set;
}

describe.each(
  groupRows(readDecisionTable()).map((group) => ({
    group,
    profile: group[0]?.profile ?? '',
    vars: group[0]?.vars ?? {},
  })),
)('the files that init writes for $profile $vars', ({ group, profile, vars }) => {
  test('decide like the profile', () => {
    const { notmods: _, ...detected } = vars;
    const set = load(render(profileNamed(profile), { vars: detected }));
    const written = compileDecider(set, new Set());
    const shipped = compileDecider(shippedProfile(profileNamed(profile), vars), new Set());
    for (const { path, expected } of group) {
      TABLE_ROLES.forEach((role, index) => {
        const decide = (decider: typeof written, operation: 'create' | 'modify' | 'delete') =>
          decider.decide(role as string as RoleName, operation, path as RepoPath);
        expect([path, role, decide(written, 'create').decision]).toEqual([path, role, expected[index]]);
        for (const operation of ['create', 'modify', 'delete'] as const) {
          const [here, there] = [decide(written, operation), decide(shipped, operation)];
          expect([path, role, operation, here.decision, here.rule, here.askClass]).toEqual([
            path,
            role,
            operation,
            there.decision,
            there.rule,
            there.askClass,
          ]);
        }
      });
    }
  });
});

test.each(PROFILE_NAMES)('%s: rules carry the place in the written file, and nothing is warned about', (profile) => {
  const set = load(render(profile));
  expect(set.warnings).toEqual([]);
  for (const role of set.roles.values()) {
    for (const rule of role.write)
      expect(rule.origin).toMatch(new RegExp(`^policies/roles/${role.role}\\.yaml:\\d+$`, 'u'));
  }
  expect(set.global.never[0]?.origin).toMatch(/^policies\/global\.yaml:\d+$/u);
});

test('the choices of init arrive', () => {
  const set = load(
    render('python-src', {
      vars: { code: ['src', 'odd "name', '#x'] },
      inventoryHash: 'sha256:abc',
      roles: ['planner', 'coder'],
      allowSharedKey: true,
      verify: {
        environment: 'python3 -c "import pkg; print(\'x\')"',
        quick: 'PYTHONPATH="$PWD/src" /usr/bin/python3 -m pytest -q tests -x',
        full: 'a && b # not a comment',
      },
    }),
  );
  expect([...set.roles.keys()]).toEqual(['coder', 'planner']);
  expect(set.global.pipeline).toEqual(['planner', 'coder']);
  expect(set.global.vars['code']).toEqual(['src', 'odd "name', '#x']);
  expect(set.global.inventory).toBe('sha256:abc');
  expect(set.global.allowSharedKey).toBe(true);
  expect(set.global.verify).toEqual({
    environment: 'python3 -c "import pkg; print(\'x\')"',
    quick: 'PYTHONPATH="$PWD/src" /usr/bin/python3 -m pytest -q tests -x',
    full: 'a && b # not a comment',
  });
  const allow = set.roles.get('coder' as RoleName)?.run.allow;
  expect(allow).toContain('PYTHONPATH="$PWD/src" /usr/bin/python3 -m pytest -q tests -x **');
  expect(allow?.some((pattern) => pattern.includes('&&'))).toBe(false);
  expect(set.roles.get('planner' as RoleName)?.run.allow).toEqual([]);
});

test('budgets and limits of the written roles are the built-in ones', () => {
  const set = load(render('cpython'));
  const bare = load(
    (() => {
      const directory = writePolicies({
        'global.yaml': 'version: 2\n',
        ...Object.fromEntries(ROLES.map((role) => [`roles/${role}.yaml`, `version: 2\nrole: ${role}\n`])),
      });
      made.push(directory);
      return directory;
    })(),
  );
  for (const [name, role] of set.roles) {
    expect(role.budget).toEqual(bare.roles.get(name)?.budget);
    expect(role.limits).toEqual(bare.roles.get(name)?.limits);
    expect(role.model).toEqual(bare.roles.get(name)?.model);
  }
  expect(set.global.limits).toEqual(bare.global.limits);
  expect(set.global.gateway).toEqual(bare.global.gateway);
  expect(set.global.generated.sources.length).toBeGreaterThan(5);
});

test('notes and the .env template name every role', () => {
  expect([...renderAgentNotes(['planner', 'c-coder']).keys()]).toEqual([
    'agent-notes/planner.md',
    'agent-notes/c-coder.md',
  ]);
  const env = parseEnvFile(renderEnvTemplate(['planner', 'c-coder']), '.env');
  expect([...env.variables.keys()]).toEqual([
    'ORCH_BASE_URL',
    'ORCH_KEY_PLANNER',
    'ORCH_MODEL_PLANNER',
    'ORCH_KEY_C_CODER',
    'ORCH_MODEL_C_CODER',
  ]);
  expect([...env.variables.values()].every((value) => value === '')).toBe(true);
  expect([...env.warnings, ...env.problems]).toEqual([]);
});
