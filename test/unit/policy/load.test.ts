// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy files hold ${…}
import { afterEach, describe, expect, test } from 'vitest';
import type { RoleName } from '../../../src/domain/ids.ts';
import { type LoadedPolicySet, loadPolicySet } from '../../../src/policy/load.ts';
import type { PolicySet } from '../../../src/policy/policy.ts';
import { CODER, GLOBAL, type PolicyDirectory, writePolicies } from './policy-directory.ts';

const made: PolicyDirectory[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) directory.remove();
});

interface Given {
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

function load(given: Given): LoadedPolicySet {
  const directory = writePolicies({ 'global.yaml': GLOBAL, 'roles/coder.yaml': CODER, ...given.files });
  made.push(directory);
  return loadPolicySet({
    directory: directory.directory,
    variables: new Map(Object.entries(given.variables ?? {})),
    environment: new Map(Object.entries(given.environment ?? {})),
  });
}

function loadSet(given: Given): PolicySet {
  const loaded = load(given);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.set;
}

/** `file:line:column: message`, errors only. */
function problemsOf(given: Given): readonly string[] {
  const loaded = load(given);
  expect(loaded.ok).toBe(false);
  return loaded.ok
    ? []
    : loaded.problems.map((found) => `${found.file}:${found.line}:${found.column}: ${found.message}`);
}

const role = (text: string): Given => ({ files: { 'roles/coder.yaml': `version: 2\nrole: coder\n${text}` } });
const global = (text: string): Given => ({ files: { 'global.yaml': `version: 2\npipeline: [coder]\n${text}` } });

describe('a small policy', () => {
  test('is complete through the built-in defaults', () => {
    const set = loadSet({});
    const coder = set.roles.get('coder' as RoleName);
    expect(coder?.budget).toEqual({
      task: 200_000,
      run: 'unlimited',
      day: 1_000_000,
      warnAt: 0.8,
      cacheReadWeight: 0.1,
      usdTask: undefined,
    });
    expect(coder?.limits).toMatchObject({ turns: 40, wallClockMs: 2_700_000, changedLines: 400 });
    expect(coder?.key).toEqual({ kind: 'env', name: 'ORCH_KEY_CODER' });
    expect(coder?.model).toEqual({
      protocol: 'anthropic',
      id: undefined,
      temperature: undefined,
      maxOutputTokens: 8192,
    });
    expect(coder?.tools).toEqual(['read', 'search', 'edit', 'write', 'note', 'run']);
    expect(coder?.write).toEqual([{ glob: 'src/**', origin: 'policies/roles/coder.yaml:3' }]);
    expect(set.global.limits).toEqual({
      runTokens: 600_000,
      dayTokens: 2_000_000,
      runWallClockMs: 14_400_000,
      commits: 20,
      netLines: 2000,
      reviewRounds: 2,
    });
    expect(set.global.gateway.baseUrl).toBeUndefined();
  });

  test('every effective value has an origin', () => {
    const { origins } = loadSet({ variables: { ORCH_BASE_URL: 'https://gateway.test' } });
    expect(origins.get('global.pipeline')).toEqual({ value: ['coder'], origin: 'policies/global.yaml:2' });
    expect(origins.get('roles.coder.budget.task')).toEqual({ value: '200k', origin: 'built-in default' });
    expect(origins.get('roles.coder.write')?.origin).toBe('policies/roles/coder.yaml:3');
    expect(origins.get('global.gateway.base_url')?.value).toBe('https://gateway.test');
  });

  test('planner and reviewer have their own allowances and cannot write by default', () => {
    const set = loadSet({
      files: {
        'roles/planner.yaml': 'version: 2\nrole: planner\n',
        'roles/reviewer.yaml': 'version: 2\nrole: reviewer\n',
        'roles/test.yaml': 'version: 2\nrole: test\n',
      },
    });
    const of = (name: string) => set.roles.get(name as RoleName);
    expect([of('planner')?.budget.task, of('planner')?.limits.turns]).toEqual([50_000, 8]);
    expect([of('reviewer')?.budget.task, of('reviewer')?.limits.turns]).toEqual([80_000, 12]);
    expect([of('test')?.budget.task, of('test')?.limits.turns]).toEqual([120_000, 30]);
    expect(of('planner')?.tools).toEqual(['read', 'search', 'note']);
  });
});

describe('values', () => {
  test('come from .env, with defaults, into any field but key', () => {
    const set = loadSet({
      ...role(
        'key: "env:ORCH_KEY_CODER"\nmodel: { protocol: "${ORCH_PROTOCOL_CODER:-anthropic}", id: "${ORCH_MODEL_CODER}" }\nlimits: { turns: "${TURNS:-7}" }\n',
      ),
      variables: {
        ORCH_PROTOCOL_CODER: 'openai-chat',
        ORCH_MODEL_CODER: 'm-1',
        ORCH_BASE_URL: 'https://gateway.test/v1',
      },
    });
    const coder = set.roles.get('coder' as RoleName);
    expect(coder?.model).toMatchObject({ protocol: 'openai-chat', id: 'm-1' });
    expect(coder?.limits.turns).toBe(7);
    expect(set.global.gateway.baseUrl).toBe('https://gateway.test');
    expect(set.warnings).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining('shortened') }),
    ]);
  });

  test('the environment overrides single values, never a boundary or a key', () => {
    const set = loadSet({
      environment: {
        ORCHESTRATOR_LIMITS_DAY_TOKENS: '5k',
        ORCHESTRATOR_ROLE_CODER_LIMITS_TURNS: '3',
        ORCHESTRATOR_ROLE_CODER_KEY: 'env:OTHER',
        ORCHESTRATOR_ROLE_CODER_WRITE: '**',
        ORCHESTRATOR_PROFILE: 'other',
      },
    });
    expect(set.global.limits.dayTokens).toBe(5000);
    expect(set.roles.get('coder' as RoleName)?.limits.turns).toBe(3);
    expect(set.origins.get('roles.coder.limits.turns')?.origin).toBe(
      'environment ORCHESTRATOR_ROLE_CODER_LIMITS_TURNS',
    );
    expect(set.roles.get('coder' as RoleName)?.key).toEqual({ kind: 'env', name: 'ORCH_KEY_CODER' });
    expect(set.roles.get('coder' as RoleName)?.write).toEqual([
      { glob: 'src/**', origin: 'policies/roles/coder.yaml:3' },
    ]);
    expect(set.global.profile).toBe('generic');
  });

  test('a wrong value from the environment is an error that names it', () => {
    const [problem] = problemsOf({ environment: { ORCHESTRATOR_LIMITS_DAY_TOKENS: 'lots' } });
    expect(problem).toMatch(/^environment ORCHESTRATOR_LIMITS_DAY_TOKENS:1:1: `limits\.day_tokens` expected tokens/u);
  });
});

describe('the digest', () => {
  test('ignores comments, order and places, and changes with a value', () => {
    const plain = loadSet({}).digest;
    const commented = loadSet({
      files: { 'global.yaml': '# c\nvars: { code: [src] }\n\npipeline: [coder]\nversion: 2\n' },
    });
    expect(commented.digest).toBe(plain);
    expect(plain).toMatch(/^[0-9a-f]{64}$/u);
    expect(loadSet(role('write: ["${code}/**"]\nlimits: { turns: 41 }\n')).digest).not.toBe(plain);
    expect(loadSet({ ...global('vars: { code: [src2] }\n') }).digest).not.toBe(plain);
    expect(loadSet({ environment: { ORCHESTRATOR_LIMITS_COMMITS: '3' } }).digest).not.toBe(plain);
  });

  test('holds no key', () => {
    expect(loadSet({ variables: { ORCH_KEY_CODER: 'one' } }).digest).toBe(
      loadSet({ variables: { ORCH_KEY_CODER: 'two' } }).digest,
    );
  });
});

describe('problems', () => {
  test.each<[string, Given, string]>([
    ['unknown field', role('budgt: { task: 1k }\n'), 'policies/roles/coder.yaml:3:1: unknown field `budgt`'],
    ['unknown inner field', role('limits:\n  turn: 4\n'), 'policies/roles/coder.yaml:4:3: unknown field `limits.turn`'],
    ['unknown global field', global('nevr: []\n'), 'policies/global.yaml:3:1: unknown field `nevr`'],
    [
      'missing version',
      { files: { 'roles/coder.yaml': 'role: coder\n' } },
      'policies/roles/coder.yaml:1:1: `version` must be one of: 2',
    ],
    [
      'old version',
      { files: { 'roles/coder.yaml': 'version: 1\nrole: coder\n' } },
      'policies/roles/coder.yaml:1:10: `version` must be one of: 2',
    ],
    ['literal key', role('key: sk-verysecret\n'), 'policies/roles/coder.yaml:3:6: `key` must be env:NAME or file:PATH'],
    ['expanded key', role('key: "${ORCH_X}"\n'), 'policies/roles/coder.yaml:3:6: `key` must be env:NAME or file:PATH'],
    [
      'secret in a value',
      role('model: { id: "${ORCH_KEY_CODER}" }\n'),
      'policies/roles/coder.yaml:3:14: ${ORCH_KEY_CODER} looks like a secret',
    ],
    [
      'missing value',
      role('run: { timeout: "${ORCH_T}" }\n'),
      'policies/roles/coder.yaml:3:17: ${ORCH_T} has no value',
    ],
    [
      'budget with a space',
      role('budget:\n  task: 200 k\n'),
      'policies/roles/coder.yaml:4:9: `budget.task` expected tokens such as 200k',
    ],
    [
      'budget in capitals',
      role('budget: { task: 200K }\n'),
      'policies/roles/coder.yaml:3:17: `budget.task` expected tokens',
    ],
    [
      'hexadecimal budget',
      role('budget: { task: 0x10 }\n'),
      'policies/roles/coder.yaml:3:17: `budget.task` expected tokens',
    ],
    [
      'infinite budget',
      role('budget: { task: .inf }\n'),
      'policies/roles/coder.yaml:3:17: `budget.task` expected tokens',
    ],
    [
      'negative budget',
      role('budget: { task: -5 }\n'),
      'policies/roles/coder.yaml:3:17: `budget.task` expected tokens',
    ],
    ['no budget', role('budget: { task: }\n'), 'policies/roles/coder.yaml:3:17: `budget.task` expected tokens'],
    [
      'duration without unit',
      role('limits: { wall_clock: 45 }\n'),
      'policies/roles/coder.yaml:3:23: `limits.wall_clock` expected a time',
    ],
    [
      'duration of nothing',
      global('gateway: { request_timeout: 0s }\n'),
      'policies/global.yaml:3:29: `gateway.request_timeout` expected a time',
    ],
    [
      'percent as a share',
      role('budget: { warn_at: 0.8 }\n'),
      'policies/roles/coder.yaml:3:20: `budget.warn_at` expected a percentage',
    ],
    [
      'percent above all',
      role('budget: { warn_at: 120% }\n'),
      'policies/roles/coder.yaml:3:20: `budget.warn_at` expected a percentage',
    ],
    [
      'temperature',
      role('model: { temperature: 3 }\n'),
      'policies/roles/coder.yaml:3:23: `model.temperature` must be at most 2',
    ],
    [
      'anthropic temperature',
      role('model: { temperature: 1.5 }\n'),
      'policies/roles/coder.yaml:3:23: `model.temperature` must be at most 1 with',
    ],
    [
      'unknown runner',
      role('runner: claude\n'),
      'policies/roles/coder.yaml:3:9: `runner` must be one of: builtin, claude-code',
    ],
    [
      'half a turn',
      role('limits: { turns: 1.5 }\n'),
      'policies/roles/coder.yaml:3:18: `limits.turns` expected a whole number',
    ],
    ['no turn', role('limits: { turns: 0 }\n'), 'policies/roles/coder.yaml:3:18: `limits.turns` must be at least 1'],
    ['text for a list', role('write: src/**\n'), 'policies/roles/coder.yaml:3:8: `write` expected a list of globs'],
    ['text for a map', role('limits: many\n'), 'policies/roles/coder.yaml:3:9: `limits` must be a map'],
    [
      'glob with a slash',
      role('write:\n  - "src/**"\n  - "/abs/**"\n'),
      'policies/roles/coder.yaml:5:5: glob "/abs/**" starts with `/`',
    ],
    ['glob with a backslash', role("deny: ['a\\b']\n"), 'policies/roles/coder.yaml:3:8: glob "a\\b" holds a backslash'],
    ['empty glob', role('ask: [""]\n'), 'policies/roles/coder.yaml:3:7: glob "" is empty'],
    [
      'generator of a bad glob',
      global('generated: { sources: [{ output: "/x", command: make }] }\n'),
      'policies/global.yaml:3:24: glob "/x" starts with `/`',
    ],
    ['glob with ..', global('never: ["a/../b"]\n'), 'policies/global.yaml:3:9: glob "a/../b" holds `..`'],
    [
      'variable that makes a bad glob',
      { files: { 'global.yaml': 'version: 2\npipeline: [coder]\nvars: { code: [/abs] }\n' } },
      'policies/roles/coder.yaml:3:9: glob "${code}/**" (here "/abs/**") starts with `/`',
    ],
    [
      'unknown variable',
      role('write: ["${cod}/**"]\n'),
      'policies/roles/coder.yaml:3:9: glob "${cod}/**" names `${cod}`',
    ],
    ['repeated key', role('deny: []\ndeny: [a]\n'), 'policies/roles/coder.yaml:4:1: the same key stands twice'],
    ['anchor', role('deny: &a [x]\n'), 'policies/roles/coder.yaml:3:10: anchors and aliases are not allowed'],
    ['tag', role('deny: !!set {a}\n'), 'policies/roles/coder.yaml:3:13: tags are not allowed'],
    [
      'byte order mark',
      { files: { 'roles/coder.yaml': '\uFEFFversion: 2\nrole: coder\n' } },
      'policies/roles/coder.yaml:1:1: begins with a byte order mark',
    ],
    ['tab', role('limits:\n\tturns: 4\n'), 'policies/roles/coder.yaml:4:1: is indented with a tab'],
    ['second document', role('---\nversion: 2\n'), 'policies/roles/coder.yaml:3:1: holds a second document'],
    ['broken YAML', role('write: [a\n'), 'policies/roles/coder.yaml:4:1: is not valid YAML'],
    ['empty file', { files: { 'roles/coder.yaml': '' } }, 'policies/roles/coder.yaml:1:1: is empty'],
    ['list file', { files: { 'roles/coder.yaml': '- a\n' } }, 'policies/roles/coder.yaml:1:1: must be a map'],
    ['number as key', role('limits: { 1: 2 }\n'), 'policies/roles/coder.yaml:3:11: a key must be plain text'],
    [
      'bytes',
      { files: { 'roles/coder.yaml': Buffer.from([0x61, 0xff]) } },
      'policies/roles/coder.yaml:1:1: is not valid UTF-8',
    ],
    [
      'too large',
      { files: { 'roles/coder.yaml': `#${' '.repeat(300_000)}` } },
      'policies/roles/coder.yaml:1:1: is larger',
    ],
    [
      'other role name',
      { files: { 'roles/coder.yaml': 'version: 2\nrole: codr\n' } },
      'policies/roles/coder.yaml:2:7: `role: codr` differs from the file name',
    ],
    ['yml', { files: { 'roles/test.yml': CODER } }, 'policies/roles/test.yml:1:1: is not read: rename it'],
    [
      'unknown role in the pipeline',
      { files: { 'global.yaml': 'version: 2\npipeline: [codr]\nvars: { code: [src] }\n' } },
      'policies/global.yaml:2:12: `pipeline` names codr, but there is no policies/roles/codr.yaml',
    ],
    [
      'role twice',
      { files: { 'global.yaml': 'version: 2\npipeline: [coder, coder]\nvars: { code: [src] }\n' } },
      'policies/global.yaml:2:19: `pipeline` names coder twice',
    ],
    [
      'empty pipeline',
      { files: { 'global.yaml': 'version: 2\npipeline: []\n' } },
      'policies/global.yaml:2:11: `pipeline` must name at least one role',
    ],
    [
      'alias that is a role',
      role('aliases: [coder]\n'),
      'policies/roles/coder.yaml:3:11: alias coder is already the name of role coder',
    ],
    [
      'base URL',
      global('gateway: { base_url: "gateway" }\nvars: { code: [] }\n'),
      'policies/global.yaml:3:22: `gateway.base_url` is not a URL',
    ],
    [
      'variable name',
      global('vars: { Code: [] }\n'),
      'policies/global.yaml:3:9: variable name `Code` must be small letters',
    ],
    [
      'key in an agent file',
      { files: { 'agents/1.yaml': 'version: 2\nrole: coder\nkey: env:X\n' } },
      'policies/agents/1.yaml:3:1: `key` looks like a key',
    ],
    [
      'inner key in an agent file',
      { files: { 'agents/1.yaml': 'version: 2\nrole: coder\nmodel: { api_key: sk-x }\n' } },
      'policies/agents/1.yaml:3:10: `model.api_key` looks like a key',
    ],
    [
      'boundary in an agent file',
      { files: { 'agents/1.yaml': 'version: 2\nrole: coder\nwrite: ["**"]\n' } },
      'policies/agents/1.yaml:3:1: unknown field `write`',
    ],
    [
      'agent of no role',
      { files: { 'agents/1.yaml': 'version: 2\nrole: codr\n' } },
      'policies/agents/1.yaml:2:7: `role: codr` has no policies/roles/codr.yaml',
    ],
  ])('%s', (_, given, expected) => {
    const problems = problemsOf(given);
    expect(problems.map((problem) => problem.startsWith(expected))).toContain(true);
    expect(problems).toHaveLength(1);
    expect(problems.join('')).not.toContain('sk-');
  });

  test('an alias bomb is refused before it is expanded', () => {
    const lines = Array.from(
      { length: 30 },
      (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(9)}]`,
    );
    const bomb = `version: 2\nrole: coder\na0: &a0 [x]\n${lines.join('\n')}\n`;
    const start = performance.now();
    expect(problemsOf({ files: { 'roles/coder.yaml': bomb } })[0]).toContain('anchors and aliases');
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test('all come at once, with suggestions', () => {
    const loaded = load({
      files: {
        'global.yaml': 'version: 2\npipelin: [coder]\nlimits: { run_tokens: x }\n',
        'roles/coder.yaml': 'version: 2\nrole: coder\nwrite: ["/a"]\nrunner: codexx\nlimts: {}\n',
      },
    });
    expect(loaded.ok).toBe(false);
    const problems = loaded.ok ? [] : loaded.problems;
    expect(problems.map(({ file, line }) => `${file}:${line}`).toSorted()).toEqual([
      'policies/global.yaml:2',
      'policies/global.yaml:3',
      'policies/roles/coder.yaml:4',
      'policies/roles/coder.yaml:5',
    ]);
    expect(problems.map((problem) => problem.suggestion).filter((suggestion) => suggestion !== undefined)).toEqual([
      'did you mean `pipeline`?',
      'did you mean `codex`?',
      'did you mean `limits`?',
    ]);
  });

  test('without any files the way out is named', () => {
    const directory = writePolicies({});
    made.push(directory);
    const loaded = loadPolicySet({ directory: directory.directory, variables: new Map() });
    expect(loaded.ok ? [] : loaded.problems.map((problem) => problem.message)).toEqual([
      'does not exist: `orchestrator init` writes it, `init --restore` brings a cleaned-away one back',
    ]);
  });

  test('a never list that leaves the policies open is a warning', () => {
    const set = loadSet(global('vars: { code: [src] }\nnever: [".git/**"]\n'));
    expect(set.warnings).toEqual([
      expect.objectContaining({
        severity: 'warning',
        file: 'policies/global.yaml',
        line: 4,
        message: expect.stringContaining('policies/global.yaml, policies/roles/coder.yaml, .env'),
      }),
    ]);
    expect(loadSet({}).warnings).toEqual([]);
  });
});
