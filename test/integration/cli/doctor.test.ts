import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { found } from '../../../src/domain/check.ts';
import { acquireDaemonLock } from '../../../src/store/sqlite/lock.ts';
import { ANTHROPIC_ANSWER, type FakeUpstream, json, startFakeUpstream } from '../gateway/fake-upstream.ts';
import { makePlace, type Place } from './cli-process.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly level: string;
  readonly symptom: string;
  readonly cause: string | null;
  readonly remedy: string | null;
}

const ROLES = ['planner', 'coder', 'test', 'reviewer'] as const;
const keyOf = (role: string) => `sk-${role}-0123456789-${role.slice(0, 4)}`;

let place: Place;
let upstream: FakeUpstream;

beforeEach(async () => {
  place = makePlace({ 'src/pkg/__init__.py': '', 'pyproject.toml': '[project]\nname = "pkg"\nversion = "1"\n' });
  upstream = await startFakeUpstream(() => json(200, ANTHROPIC_ANSWER));
});
afterEach(async () => {
  await upstream.stop();
  await place.remove();
});

async function setUp(changes: Readonly<Record<string, string>> = {}): Promise<void> {
  expect((await place.cli(['init', '--yes'])).code).toBe(0);
  writeEnv(changes);
}

function writeEnv(changes: Readonly<Record<string, string>>, mode = 0o600): void {
  const values: Record<string, string> = { ORCH_BASE_URL: upstream.url };
  for (const role of ROLES) {
    values[`ORCH_KEY_${role.toUpperCase()}`] = keyOf(role);
    values[`ORCH_MODEL_${role.toUpperCase()}`] = 'model-a';
  }
  const lines = Object.entries({ ...values, ...changes }).map(([name, value]) => `${name}=${value}\n`);
  const file = join(place.state, '.env');
  writeFileSync(file, lines.join(''));
  chmodSync(file, mode);
}

/** Runs it and checks what holds for every outcome: the shape, the exit code, no key, nothing left behind. */
async function doctor(args: readonly string[] = [], options: Parameters<Place['cli']>[1] = {}) {
  const { code, stdout, stderr } = await place.cli(['doctor', '--json', ...args], options);
  if (code === 2) return { code, checks: [], stderr };
  const { checks } = JSON.parse(stdout) as { checks: readonly Check[] };
  expect(code).toBe(checks.every((check) => check.ok) ? 0 : 1);
  for (const check of checks) {
    expect(check.ok).toBe(check.level !== 'error');
    if (['warning', 'error'].includes(check.level)) {
      for (const part of [check.symptom, check.cause, check.remedy]) expect(part, check.name).toMatch(/\S/);
    }
  }
  for (const role of ROLES) expect(stdout + stderr).not.toContain(keyOf(role));
  if (existsSync(place.state)) expect(readdirSync(place.state).filter((name) => /doctor/.test(name))).toEqual([]);
  return { code, checks, stderr };
}

const levels = (checks: readonly Check[], level: string) =>
  checks.filter((check) => check.level === level).map((check) => check.name);
const named = (checks: readonly Check[], name: string) => checks.filter((check) => check.name === name);

test('a repository that is set up is sound, exit 0, one request a role', async () => {
  await setUp();
  const { code, checks, stderr } = await doctor();
  expect(levels(checks, 'error')).toEqual([]);
  expect(code).toBe(0);
  expect(stderr).toBe('');
  for (const role of ROLES) {
    expect(named(checks, `key ${role}`)[0]?.symptom).toBe(`…${role.slice(0, 4)} from ORCH_KEY_${role.toUpperCase()}`);
    expect(named(checks, `model ${role}`)[0]).toMatchObject({ ok: true });
  }
  expect(upstream.seen.map((seen) => seen.headers['x-api-key']).sort()).toEqual(ROLES.map(keyOf).sort());
});

test('for people: a line a check, and cause and remedy below what is wrong', async () => {
  await setUp({ ORCH_KEY_TEST: 'your-key-here' });
  const { code, stdout } = await place.cli(['doctor', '--role', 'test']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^error {4}key test .*is a placeholder\n {9}cause {3}.*\n {9}remedy {2}paste the key again/m);
  expect(stdout).toMatch(/^1 error, \d+ warnings?\n$/m);
  expect(upstream.seen).toEqual([]);
});

test('--role asks that role alone, by name or alias; one that is not there is a usage error', async () => {
  await setUp();
  expect(levels((await doctor(['--role', 'worker'])).checks, 'error')).toEqual([]);
  expect(upstream.seen.map((seen) => seen.headers['x-api-key'])).toEqual([keyOf('coder')]);
  expect(await doctor(['--role', 'nobody'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no role nobody; roles: '),
  });
});

describe('the repository', () => {
  test('none, none yet set up, and no commit are findings', async () => {
    const outside = await doctor([], { cwd: place.directory });
    expect(levels(outside.checks, 'error')).toEqual(['repository']);
    rmSync(place.state, { recursive: true });
    expect(named((await doctor()).checks, 'state')[0]?.remedy).toBe('orchestrator init');
    const empty = join(place.directory, 'empty');
    place.git('init', '-q', empty);
    const { checks } = await doctor([], { cwd: empty });
    expect(named(checks, 'repository')[0]?.symptom).toContain('has no commit yet');
  });

  test('what start refuses is explained: a partial clone, a branch named orchestrator', async () => {
    await setUp();
    place.git('config', 'remote.origin.promisor', 'true');
    place.git('branch', 'orchestrator');
    const { checks } = await doctor();
    expect(named(checks, 'clone')[0]).toMatchObject({
      level: 'error',
      remedy: expect.stringContaining('--no-filter'),
    });
    expect(named(checks, 'branch')[0]?.remedy).toContain('git branch -m orchestrator NEW-NAME');
    const refused = await place.cli(['start']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(named(checks, 'clone')[0]?.symptom);
    expect(refused.stderr).toContain(named(checks, 'branch')[0]?.symptom);
  });

  test('a shallow clone, a linked worktree and submodules are noted', async () => {
    writeFileSync(join(place.repository, '.gitmodules'), '[submodule "a"]\n\tpath = a\n\turl = ../a\n');
    place.git('commit', '-q', '--allow-empty', '-m', 'second');
    const shallow = join(place.directory, 'shallow');
    place.git('clone', '-q', '--depth', '1', `file://${place.repository}`, shallow);
    place.git('worktree', 'add', '-q', join(place.directory, 'linked'));
    const notes = async (cwd: string) =>
      named((await doctor([], { cwd })).checks, 'clone').map(({ level, symptom }) => `${level}: ${symptom}`);
    expect(await notes(place.repository)).toEqual(['note: 1 submodule']);
    expect(await notes(shallow)).toEqual(['note: a shallow clone']);
    expect(await notes(join(place.directory, 'linked'))).toEqual(['note: a linked worktree']);
  });

  test('an old git and nobody to commit as', async () => {
    const bin = join(place.directory, 'bin');
    mkdirSync(bin);
    const script = `#!/bin/sh\n[ "$1" = --version ] && { echo git version 2.30.2; exit 0; }\nPATH="\${PATH#*:}" exec git "$@"\n`;
    writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
    const { checks } = await doctor([], {
      env: { PATH: `${bin}:${place.env['PATH']}`, GIT_CONFIG_GLOBAL: '/dev/null' },
    });
    expect(named(checks, 'git')[0]).toMatchObject({ level: 'error', symptom: 'git is 2.30.2' });
    expect(named(checks, 'identity')[0]).toMatchObject({
      level: 'error',
      remedy: expect.stringContaining('git config user.name'),
    });
  });
});

describe('what init makes and the user fills in', () => {
  test('a .env that others may read, with lines that are wrong or repaired', async () => {
    await setUp();
    writeEnv({ ORCH_KEY_CODER: `${keyOf('coder')} `, 'not a name': '' }, 0o644);
    const { checks } = await doctor();
    const [mode, line, repaired] = named(checks, '.env');
    expect(mode).toMatchObject({ level: 'warning', remedy: expect.stringContaining('chmod 600') });
    expect(line).toMatchObject({ level: 'error', cause: '`start` refuses such a file' });
    expect(repaired?.symptom).toContain('ORCH_KEY_CODER has white space after its value, which was removed');
    expect(named(checks, 'model coder')[0]).toMatchObject({ ok: true });
  });

  test('keys: missing, quoted inside, the same twice, and the same twice where that is allowed', async () => {
    await setUp({ ORCH_KEY_PLANNER: '', ORCH_KEY_CODER: 'sk-in"side-0123456789', ORCH_KEY_REVIEWER: keyOf('test') });
    const { checks } = await doctor();
    expect(named(checks, 'key planner')[0]).toMatchObject({ level: 'error', remedy: 'set ORCH_KEY_PLANNER in .env' });
    expect(named(checks, 'key coder')[0]?.symptom).toBe('the key …6789 from ORCH_KEY_CODER holds a quote');
    expect(named(checks, 'key reviewer')[0]?.cause).toBe('it is the same as that of role test');
    for (const role of ['planner', 'coder']) expect(named(checks, `model ${role}`)).toEqual([]);
    const global = join(place.repository, 'policies/global.yaml');
    writeFileSync(global, readFileSync(global, 'utf8').replace('allow_shared_key: false', 'allow_shared_key: true'));
    writeEnv({ ORCH_KEY_REVIEWER: keyOf('test') });
    const shared = await doctor();
    expect(shared.code).toBe(0);
    expect(named(shared.checks, 'key reviewer')[1]).toMatchObject({
      level: 'note',
      symptom: 'the same key as role test',
    });
  });

  test('variables of the environment: what fills in, and what differs', async () => {
    await setUp({ ORCH_MODEL_TEST: '' });
    const env = {
      ORCH_MODEL_TEST: 'model-b',
      ORCH_KEY_CODER: 'sk-elsewhere-0123456789',
      ANTHROPIC_API_KEY: 'sk-decoy',
    };
    const { checks } = await doctor([], { env });
    const symptoms = named(checks, 'environment').map((check) => check.symptom);
    expect(symptoms).toEqual([
      'set for other clients: ANTHROPIC_API_KEY',
      'taken from the environment: ORCH_MODEL_TEST',
      'differing in the environment and in .env: ORCH_KEY_CODER',
    ]);
    expect(JSON.stringify(checks)).not.toMatch(/elsewhere|decoy/);
    expect(upstream.seen.map((seen) => seen.headers['x-api-key'])).toContain(keyOf('coder'));
  });

  test('policies that cannot be used, a base URL in pieces, and no base URL', async () => {
    await setUp({ ORCH_BASE_URL: `${upstream.url}/v1/chat/completions` });
    const pasted = await doctor();
    expect(pasted.code).toBe(0);
    expect(named(pasted.checks, 'base URL')[0]?.symptom).toBe(
      `${upstream.url}, anthropic at ${upstream.url}/v1/messages`,
    );
    writeEnv({ ORCH_BASE_URL: '' });
    expect(named((await doctor()).checks, 'base URL')[0]).toMatchObject({ level: 'error' });
    writeFileSync(join(place.repository, 'policies/roles/coder.yaml'), 'role: [\n');
    const broken = await doctor();
    expect(named(broken.checks, 'policies')[0]).toMatchObject({
      level: 'error',
      symptom: expect.stringContaining('policies/roles/coder.yaml:'),
    });
  });

  test('a state directory that is open to others, or is none', async () => {
    await setUp();
    chmodSync(place.state, 0o755);
    expect(named((await doctor()).checks, 'state')[0]).toMatchObject({
      level: 'warning',
      symptom: `${place.state} has mode 0755`,
    });
    const file = join(place.directory, 'file');
    writeFileSync(file, '');
    const { checks } = await doctor([], { env: { ORCHESTRATOR_STATE_DIR: file } });
    expect(named(checks, 'state')[0]).toMatchObject({ level: 'error', symptom: `${file} is no directory` });
    const relative = await doctor([], { env: { ORCHESTRATOR_STATE_DIR: 'here' } });
    expect(named(relative.checks, 'state')[0]?.symptom).toContain('give an absolute path');
  });

  test('a state of a newer version is left alone and told', async () => {
    await setUp();
    const database = new DatabaseSync(join(place.state, 'state.db'));
    database.exec('PRAGMA user_version = 9999');
    database.close();
    const { checks } = await doctor();
    expect(named(checks, 'models')[0]?.symptom).toContain('use the newer orchestrator that wrote it');
    expect(upstream.seen).toEqual([]);
  });
});

describe('the lock and the daemon', () => {
  test('while somebody else holds the lock nobody is asked; afterwards they are', async () => {
    await setUp();
    const lock = await acquireDaemonLock(join(place.state, 'lock.db'));
    if ('heldBy' in lock) throw new Error('the lock is held');
    const { checks } = await doctor();
    expect(named(checks, 'daemon')[0]?.symptom).toContain(`process ${process.pid} holds the daemon lock`);
    expect(upstream.seen).toEqual([]);
    lock.release();
    expect((await doctor()).code).toBe(0);
    expect(upstream.seen).toHaveLength(4);
  });

  test('a daemon that listens is the one that asks', async () => {
    await setUp();
    const finding = { level: 'error', symptom: 'seen by the daemon', cause: 'c', remedy: 'r' } as const;
    const backend = await place.serve({ doctor: async () => [found('model coder', finding)] });
    const { code, checks } = await doctor(['--role', 'coder']);
    expect(code).toBe(1);
    expect(named(checks, 'model coder')[0]?.symptom).toBe('seen by the daemon');
    expect(backend.calls).toContainEqual(['doctor', { role: 'coder' }]);
    expect(upstream.seen).toEqual([]);
    expect(existsSync(join(place.state, 'state.db'))).toBe(false);
  });
});
