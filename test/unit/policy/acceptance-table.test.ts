import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Explained, runPolicyExplain } from '../../../src/cli/policy/explain.ts';
import { PROFILE_NAMES, readProfile } from '../../../src/policy/profile-file.ts';
import { FIXTURES, groupRows, readDecisionTable, TABLE_ROLES } from './decision-table.ts';
import { recordingIo } from './policy-io.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-policy-table-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const rows = readDecisionTable();

test('the table has the rows that were measured', () => {
  expect(rows.length).toBeGreaterThan(230);
});

describe.each(
  groupRows(rows).map((group) => ({ group, name: `${group[0]?.profile} ${JSON.stringify(group[0]?.vars)}` })),
)('policy explain --profile $name', ({ group }) => {
  test('answers every row as the table says', async () => {
    const varsFile = join(directory, 'vars.json');
    writeFileSync(varsFile, JSON.stringify(group[0]?.vars ?? {}));
    const io = recordingIo(directory, group.map((row) => `${row.path}\n`).join(''));
    const code = await runPolicyExplain(
      { paths: [], stdin: true, profile: group[0]?.profile ?? '', vars: varsFile, json: true, variables: new Map() },
      io,
    );
    const answers = JSON.parse(io.output()) as Explained[];
    expect(code).toBe(0);
    expect(
      answers.map((answer) => ({
        path: answer.path,
        operation: answer.operation,
        decisions: answer.decisions.map(({ role, decision }) => `${role} ${decision}`),
      })),
    ).toEqual(
      group.map((row) => ({
        path: row.path,
        operation: 'create',
        decisions: TABLE_ROLES.map((role, index) => `${role} ${row.expected[index]}`),
      })),
    );
  });
});

describe.each(PROFILE_NAMES)('shipped profile %s', (name) => {
  test('has the measured lists, and the policies themselves in never', () => {
    const measured = parse(readFileSync(new URL(`profile-${name}.yaml`, FIXTURES), 'utf8')) as Record<string, unknown>;
    const { content } = readProfile(name);
    expect(content.never).toEqual(['policies/{global.yaml,roles/**,agents/**}', ...(measured['never'] as string[])]);
    const roles = measured['roles'] as Record<string, Record<string, unknown>>;
    // The contract's own coder.yaml asks for an existing news entry; the measured file leaves the default, which denies.
    const coder = name === 'cpython' ? { ...roles['coder'], create_only_else: 'ask' } : roles['coder'];
    expect(content.roles).toEqual({ ...roles, coder });
    const { sources: _, ...generated } = content.generated ?? {};
    expect(generated).toEqual(measured['generated']);
    const { notmods: __, ...vars } = (measured['vars'] ?? {}) as Record<string, unknown>;
    expect(content.vars ?? {}).toEqual(vars);
  });
});
