// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy files hold ${…}
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { RoleName } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { compileDecider } from '../../../src/policy/decide.ts';
import { loadPolicySet } from '../../../src/policy/load.ts';
import { GLOBAL, writePolicies } from './policy-directory.ts';

const ROLE = `version: 2
role: coder
write: ["src/**"]
deny: ["src/secret/**"]
budget: { task: 200k }
limits:
  turns: 40
`;
const made = writePolicies({ 'global.yaml': GLOBAL, 'roles/coder.yaml': ROLE });
afterAll(() => made.remove());

function loadWith(text: string) {
  writeFileSync(join(made.directory, 'roles/coder.yaml'), text);
  return loadPolicySet({ directory: made.directory, variables: new Map() });
}

test('the unharmed file loads', () => {
  expect(loadWith(ROLE).ok).toBe(true);
});

test('a damaged file is refused with a place or still decides; it never throws', () => {
  const damage = fc.constantFrom(
    '\t',
    '\uFEFF',
    '&a ',
    '*a',
    '---\n',
    ': ',
    '"',
    '{',
    '}',
    '[',
    '!!x ',
    '\0',
    '\n',
    '- ',
    '#',
    '${X}',
  );
  fc.assert(
    fc.property(fc.nat(ROLE.length), damage, fc.nat(12), (at, inserted, removed) => {
      const loaded = loadWith(ROLE.slice(0, at) + inserted + ROLE.slice(at + removed));
      if (loaded.ok) {
        const decider = compileDecider(loaded.set, new Set());
        expect(decider.decide('coder' as RoleName, 'create', '.git/config' as RepoPath).decision).toBe('never');
      } else {
        expect(loaded.problems.length).toBeGreaterThan(0);
        for (const problem of loaded.problems) expect(problem.line).toBeGreaterThan(0);
      }
    }),
    { numRuns: 500 },
  );
});

test('a file cut short is refused, or opens nothing beyond its write list', () => {
  let loadable = 0;
  for (let length = 0; length <= ROLE.length; length += 1) {
    const loaded = loadWith(ROLE.slice(0, length));
    if (!loaded.ok) continue;
    loadable += 1;
    const decider = compileDecider(loaded.set, new Set());
    for (const path of ['tests/x', 'setup.py'] as RepoPath[]) {
      expect(decider.decide('coder' as RoleName, 'create', path).decision).toBe('out');
    }
  }
  expect(loadable).toBeGreaterThan(3);
});
