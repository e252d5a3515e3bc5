import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadPolicySet } from '../../../src/policy/load.ts';
import { missingForStart, resolveRole, sharedKeyNote } from '../../../src/policy/start-check.ts';
import { type PolicyDirectory, writePolicies } from './policy-directory.ts';

let made: PolicyDirectory | undefined;
afterEach(() => made?.remove());

function load(values: Readonly<Record<string, string>>, extra = '') {
  made = writePolicies({
    'global.yaml': `version: 2\npipeline: [planner, coder]\n${extra}`,
    'roles/planner.yaml': 'version: 2\nrole: planner\n',
    'roles/coder.yaml': 'version: 2\nrole: coder\naliases: [worker]\n',
    'roles/test.yaml': 'version: 2\nrole: test\n',
  });
  const variables = new Map(Object.entries(values));
  const loaded = loadPolicySet({ directory: made.directory, variables });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return { set: loaded.set, missing: missingForStart(loaded.set, variables) };
}

const COMPLETE = {
  ORCH_BASE_URL: 'https://gateway.test',
  ORCH_KEY_PLANNER: 'secret-one',
  ORCH_KEY_CODER: 'secret-two',
  ORCH_MODEL_PLANNER: 'm',
  ORCH_MODEL_CODER: 'm',
};

test('a complete .env misses nothing; roles outside the pipeline need nothing', () => {
  expect(load(COMPLETE).missing).toEqual([]);
});

test('everything that is missing is named', () => {
  expect(load({ ORCH_KEY_CODER: '' }).missing).toEqual([
    'base URL: set ORCH_BASE_URL in .env, or gateway.base_url in policies/global.yaml',
    'key of role planner: set ORCH_KEY_PLANNER in .env',
    'model of role planner: set ORCH_MODEL_PLANNER in .env, or model.id in policies/roles/planner.yaml',
    'key of role coder: set ORCH_KEY_CODER in .env',
    'model of role coder: set ORCH_MODEL_CODER in .env, or model.id in policies/roles/coder.yaml',
  ]);
});

test('a setting that nothing acts on is refused instead of being passed over', () => {
  const extra = 'workspace: { isolation: shared }\napproval: { passphrase: required }\ncheckpoints: { merge: auto }\n';
  expect(load(COMPLETE, extra).missing).toEqual([
    'workspace.isolation: this version does not act on shared; set isolation: private in policies/global.yaml',
    'approval.passphrase: this version does not act on required; set passphrase: off in policies/global.yaml',
    'checkpoints.merge: this version does not act on auto; set merge: ask in policies/global.yaml',
  ]);
  expect(load(COMPLETE, 'workspace: { isolation: private }\n').missing).toEqual([]);
});

test('one key for two roles is refused unless it is allowed', () => {
  const shared = { ...COMPLETE, ORCH_KEY_CODER: 'secret-one' };
  const { missing } = load(shared);
  expect(missing).toEqual([expect.stringContaining('key of role coder: it is the same as that of role planner')]);
  expect(missing.join('')).not.toContain('secret');
  made?.remove();
  expect(load(shared, 'allow_shared_key: true\n').missing).toEqual([]);
});

test('a role is found by its alias', () => {
  const { set } = load(COMPLETE);
  expect(resolveRole(set, 'worker')?.role).toBe('coder');
  expect(resolveRole(set, 'coder')?.role).toBe('coder');
  expect(resolveRole(set, 'nobody')).toBeUndefined();
});

test('a runner that is not driven here, or that cannot speak the protocol, is refused', () => {
  const read = (coder: string) => {
    made = writePolicies({
      'global.yaml': 'version: 2\npipeline: [coder]\n',
      'roles/coder.yaml': `version: 2\nrole: coder\n${coder}`,
    });
    const variables = new Map(Object.entries(COMPLETE));
    const loaded = loadPolicySet({ directory: made.directory, variables });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    made.remove();
    return missingForStart(loaded.set, variables);
  };
  expect(read('')).toEqual([]);
  expect(read('runner: command\n')).toEqual([expect.stringContaining('this version does not drive command')]);
  expect(read('model: { protocol: openai-responses }\n')).toEqual([
    expect.stringContaining('the built-in agent does not speak openai-responses'),
  ]);
});

test('a key file counts by what it holds', () => {
  made = writePolicies({
    'global.yaml': 'version: 2\npipeline: [planner, coder]\ngateway: { base_url: "https://gateway.test" }\n',
    'roles/planner.yaml': 'version: 2\nrole: planner\nmodel: { id: m }\n',
    'roles/coder.yaml': 'version: 2\nrole: coder\nmodel: { id: m }\n',
    'key.txt': 'secret-one\n',
  });
  const file = join(made.directory, 'key.txt');
  writeFileSync(
    join(made.directory, 'roles/coder.yaml'),
    `version: 2\nrole: coder\nkey: file:${file}\nmodel: { id: m }\n`,
  );
  const read = () => {
    const loaded = loadPolicySet({ directory: made?.directory ?? '', variables: new Map() });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return missingForStart(loaded.set, new Map([['ORCH_KEY_PLANNER', 'secret-one']]));
  };
  chmodSync(file, 0o644);
  expect(read()).toEqual([expect.stringMatching(/key of role coder: the key file .* is readable by others/)]);
  chmodSync(file, 0o600);
  expect(read()).toEqual([expect.stringContaining('it is the same as that of role planner')]);
  writeFileSync(file, 'secret-two\n');
  expect(read()).toEqual([]);
});

test('a shared key is told where it is allowed, separate keys are not', () => {
  const shared = { ...COMPLETE, ORCH_KEY_CODER: 'secret-one' };
  const { set, missing } = load(shared, 'allow_shared_key: true\n');
  expect(missing).toEqual([]);
  expect(sharedKeyNote(set, new Map(Object.entries(shared)))).toMatch(/shared by planner, coder.*local counters/);
  expect(sharedKeyNote(set, new Map(Object.entries(COMPLETE)))).toBeUndefined();
});
