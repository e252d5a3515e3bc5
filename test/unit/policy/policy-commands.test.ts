import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runPolicyCheck } from '../../../src/cli/policy/check.ts';
import { type Explained, runPolicyExplain } from '../../../src/cli/policy/explain.ts';
import { runPolicySchema } from '../../../src/cli/policy/schema.ts';
import { runPolicyShow } from '../../../src/cli/policy/show.ts';
import { renderPolicies } from '../../../src/policy/render-policies.ts';
import { recordingIo } from './policy-io.ts';

let root = '';
let outside = '';

function write(path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

function git(...command: string[]): void {
  const identity = ['-c', 'user.name=T', '-c', 'user.email=t@example.invalid', '-c', 'commit.gpgsign=false'];
  execaSync('git', [...identity, ...command], {
    cwd: root,
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
}

beforeAll(() => {
  outside = mkdtempSync(join(tmpdir(), 'orch-policy-cli-'));
  root = join(outside, 'checkout');
  mkdirSync(root);
  git('init', '-q');
  write('src/pkg/a.py', '');
  write('src/pkg/made.py', '');
  write('tests/test_a.py', '');
  write('news/1.rst', '');
  write('setup.py', '');
  write('.gitattributes', 'src/pkg/made.py linguist-generated\n');
  git('add', '-A');
  git('commit', '-qm', 'base');
  write('.gitattributes', 'src/pkg/a.py linguist-generated=true\n');
  const files = renderPolicies({
    profile: 'python-src',
    vars: { code: ['src'], tests: ['tests'], other: [] },
    inventoryHash: 'sha256:0',
    roles: ['planner', 'coder', 'test', 'reviewer'],
    allowSharedKey: false,
    verify: {},
  });
  for (const [path, text] of files) write(path, text);
});
afterAll(() => rmSync(outside, { recursive: true, force: true }));

async function explain(
  options: Partial<Parameters<typeof runPolicyExplain>[0]>,
  cwd = root,
  stdin: string | Buffer = '',
) {
  const io = recordingIo(cwd, stdin);
  const code = await runPolicyExplain({ paths: [], stdin: false, json: true, variables: new Map(), ...options }, io);
  return { code, output: io.output() };
}

async function answers(...args: Parameters<typeof explain>): Promise<readonly Explained[]> {
  return JSON.parse((await explain(...args)).output) as Explained[];
}

describe('policy explain in a repository', () => {
  test('says role, decision, rule and file:line; an existing path is modified, a new one created', async () => {
    const [old, fresh] = await answers({ paths: ['./src//pkg/a.py', 'src/pkg/b.py'], role: 'worker' });
    expect(old).toEqual({
      path: './src//pkg/a.py',
      canonical: 'src/pkg/a.py',
      operation: 'modify',
      decisions: [
        {
          role: 'coder',
          decision: 'write',
          rule: 'src/**',
          origin: expect.stringMatching(/^policies\/roles\/coder\.yaml:\d+$/u),
        },
      ],
    });
    expect(fresh?.operation).toBe('create');
  });

  test('the operation counts, and can be given', async () => {
    const of = async (operation?: string) =>
      (await answers({ paths: ['news/1.rst'], role: 'coder', ...(operation ? { operation } : {}) }))[0];
    expect(await of()).toMatchObject({ operation: 'modify', decisions: [{ decision: 'ask', class: 'text' }] });
    expect(await of('create')).toMatchObject({ operation: 'create', decisions: [{ decision: 'write' }] });
    await expect(explain({ paths: ['x'], operation: 'chmod' })).rejects.toThrow('expected create, modify or delete');
  });

  test('attributes are those of HEAD, not of the work tree', async () => {
    const [made, edited] = await answers({ paths: ['src/pkg/made.py', 'src/pkg/a.py'], role: 'coder' });
    expect(made?.decisions[0]).toMatchObject({ decision: 'generated', origin: '.gitattributes of the base tree' });
    expect(edited?.decisions[0]?.decision).toBe('write');
  });

  test('works from a subdirectory, with paths from the top', async () => {
    expect(
      (await answers({ paths: ['tests/test_a.py'], role: 'test' }, join(root, 'src')))[0]?.decisions[0]?.decision,
    ).toBe('write');
  });

  test('what is no path inside the repository is out for everyone', async () => {
    for (const path of ['/etc/passwd', '../x', 'a\\b']) {
      const [answer] = await answers({ paths: [path] });
      expect(answer?.canonical).toBeNull();
      expect(answer?.decisions.map((one) => one.decision)).toEqual(['out', 'out', 'out', 'out']);
    }
  });

  test('reads lines, or NUL-separated bytes when there is any NUL', async () => {
    const lines = await answers({ stdin: true, role: 'coder' }, root, 'src/a\nsrc/b\n\n');
    expect(lines.map((answer) => answer.path)).toEqual(['src/a', 'src/b']);
    const bytes = Buffer.concat([Buffer.from('src/two\nlines\0src/'), Buffer.from([0xff]), Buffer.from('\0')]);
    const raw = await answers({ stdin: true, role: 'coder' }, root, bytes);
    expect(raw.map((answer) => [answer.path, answer.decisions[0]?.decision])).toEqual([
      ['src/two\nlines', 'write'],
      ['src/\udcff', 'write'],
    ]);
  });

  test('hostile names are escaped for people', async () => {
    const { output } = await explain({ paths: ['src/\u001b[31mred\u202e.py'], json: false });
    expect(output).toContain('src/\\x1b[31mred\\u{202e}.py');
    expect(output).not.toContain('\u001b');
  });

  test('an unknown role and no path at all are usage errors', async () => {
    await expect(explain({ paths: ['x'], role: 'ghost' })).rejects.toMatchObject({ code: 'usage' });
    await expect(explain({})).rejects.toMatchObject({ code: 'usage' });
    await expect(explain({ paths: ['x'], vars: 'v.json' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('policy explain --profile', () => {
  test('works outside any repository, and only there without policies', async () => {
    expect(
      (await answers({ paths: ['src/a.py'], profile: 'python-src', role: 'coder' }, outside))[0]?.decisions,
    ).toEqual([{ role: 'coder', decision: 'write', rule: 'src/**', origin: 'profile python-src' }]);
    await expect(explain({ paths: ['src/a.py'] }, outside)).rejects.toMatchObject({ code: 'configuration' });
  });

  test('names a profile that does not exist, and bad variables', async () => {
    await expect(explain({ paths: ['x'], profile: 'python-scr' })).rejects.toThrow('did you mean `python-src`?');
    writeFileSync(join(outside, 'bad.json'), '{"code": "src"}');
    await expect(explain({ paths: ['x'], profile: 'python-src', vars: 'bad.json' }, outside)).rejects.toThrow(
      'expected an object of lists',
    );
    writeFileSync(join(outside, 'abs.json'), '{"code": ["/src"]}');
    await expect(explain({ paths: ['x'], profile: 'python-src', vars: 'abs.json' }, outside)).rejects.toThrow(
      'starts with `/`',
    );
    await expect(explain({ paths: ['x'], profile: 'python-src', vars: 'none.json' }, outside)).rejects.toThrow(
      'cannot be read',
    );
  });
});

describe('policy check', () => {
  async function check(json = false) {
    const io = recordingIo(root);
    return { code: await runPolicyCheck({ json, variables: new Map() }, io), output: io.output() };
  }

  test('sound policies exit 0 and say what start still needs', async () => {
    const { code, output } = await check();
    expect(code).toBe(0);
    expect(output).toContain('policies are sound, 0 warnings');
    expect(output).toContain('start will need the key of role coder: set ORCH_KEY_CODER in .env');
  });

  test('a warning exits 0, an error exits 2, both with their place', async () => {
    write('policies/roles/extra.yaml', 'version: 2\nrole: extra\nwrite:\n  - "nothing/**"\n');
    const warned = await check();
    expect([warned.code, warned.output]).toEqual([
      0,
      expect.stringContaining('policies/roles/extra.yaml:4:1: warning: glob "nothing/**"'),
    ]);
    write('policies/roles/extra.yaml', 'version: 2\nrole: extra\nwrite: ["/x"]\n');
    const failed = await check();
    expect([failed.code, failed.output]).toEqual([
      2,
      expect.stringContaining('policies/roles/extra.yaml:3:9: error: glob "/x" starts with `/`'),
    ]);
    const asJson = JSON.parse((await check(true)).output) as { ok: boolean; problems: unknown[] };
    expect(asJson).toMatchObject({ ok: false, problems: [{ line: 3, column: 9 }] });
    await expect(explain({ paths: ['x'] })).rejects.toMatchObject({
      code: 'configuration',
      details: [expect.stringContaining('extra.yaml:3:9')],
    });
    rmSync(join(root, 'policies/roles/extra.yaml'));
  });
});

test('policy show prints every value and rule with its origin', async () => {
  const io = recordingIo(root);
  expect(
    await runPolicyShow({ role: 'coder', json: true, variables: new Map([['ORCH_MODEL_CODER', 'm-1']]) }, io),
  ).toBe(0);
  const { values } = JSON.parse(io.output()) as { values: { name: string; value: unknown; origin: string }[] };
  const find = (name: string, value?: unknown) =>
    values.find((row) => row.name === name && (value === undefined || row.value === value));
  expect(find('budget.task')).toMatchObject({
    value: '200k',
    origin: expect.stringMatching(/^policies\/roles\/coder\.yaml:\d+$/u),
  });
  expect(find('model.id')?.value).toBe('m-1');
  expect(find('not_write')).toBeUndefined();
  expect(find('write', 'src/**')?.origin).toMatch(/^policies\/roles\/coder\.yaml:\d+$/u);
  expect(find('global.approval.passphrase')?.origin).toBe('built-in default');
  const table = recordingIo(root);
  await runPolicyShow({ role: 'worker', json: false, variables: new Map() }, table);
  expect(table.output()).toMatch(/^write +"src\/\*\*" +policies\/roles\/coder\.yaml:\d+$/mu);
  await expect(
    runPolicyShow({ role: 'ghost', json: false, variables: new Map() }, recordingIo(root)),
  ).rejects.toMatchObject({ code: 'usage' });
});

test('policy schema prints one or all', async () => {
  const all = recordingIo(outside);
  expect(await runPolicySchema({}, all)).toBe(0);
  expect(Object.keys(JSON.parse(all.output()) as object)).toEqual(['global', 'role', 'agent', 'profile']);
  const one = recordingIo(outside);
  await runPolicySchema({ kind: 'role' }, one);
  expect((JSON.parse(one.output()) as { title: string }).title).toBe('orchestrator role file');
  await expect(runPolicySchema({ kind: 'x' }, recordingIo(outside))).rejects.toMatchObject({ code: 'usage' });
});
