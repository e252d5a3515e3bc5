import { afterEach, expect, test } from 'vitest';
import { loadAgentOverride } from '../../../src/policy/agent-override.ts';
import { CODER, GLOBAL, type PolicyDirectory, writePolicies } from './policy-directory.ts';

let made: PolicyDirectory | undefined;
afterEach(() => made?.remove());

function load(text: string | undefined) {
  made = writePolicies({
    'global.yaml': GLOBAL,
    'roles/coder.yaml': CODER,
    ...(text === undefined ? {} : { 'agents/0042.yaml': text }),
  });
  return loadAgentOverride({ directory: made.directory, name: '0042', variables: new Map() });
}

test('an override changes behaviour and leaves the boundary', () => {
  const loaded = load(
    'version: 2\nrole: coder\nmodel: { temperature: 0.9, max_output_tokens: 100 }\nlimits: { turns: 12 }\n',
  );
  expect(loaded?.ok).toBe(true);
  if (!loaded?.ok) return;
  expect(loaded.role.model).toMatchObject({ temperature: 0.9, maxOutputTokens: 100 });
  expect(loaded.role.limits).toMatchObject({ turns: 12, noProgressRounds: 3 });
  expect(loaded.role.write.map((rule) => rule.glob)).toEqual(['src/**']);
  expect(loaded.overridden).toEqual(['model.temperature', 'model.max_output_tokens', 'limits.turns']);
});

test('no file is no override', () => {
  expect(load(undefined)).toBeUndefined();
});

test.each(['key: env:X\n', 'write: ["**"]\n', 'limits: { turns: 0 }\n'])('%j is refused', (line) => {
  const loaded = load(`version: 2\nrole: coder\n${line}`);
  expect(loaded?.ok === false && loaded.problems.length).toBe(1);
});

test('an override of an unknown role is refused', () => {
  const loaded = load('version: 2\nrole: codr\n');
  expect(loaded?.ok === false && loaded.problems[0]?.suggestion).toBe('did you mean `coder`?');
});
