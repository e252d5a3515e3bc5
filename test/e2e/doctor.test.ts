import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { Script } from '../../src/cli/demo/script.ts';
import { until } from './support/kill.ts';
import { queryState } from './support/ledger.ts';
import { SRC_PROJECT } from './support/project.ts';
import { keyOf, must, openStage, type Stage } from './support/stage.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly level: string;
  readonly symptom: string;
  readonly cause: string | null;
}

const ROLES = ['coder', 'planner', 'reviewer', 'test'];

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function open(script: Script = () => ({ text: 'ok', usage: { input: 11, output: 2 } })): Promise<Stage> {
  stage = await openStage({ files: SRC_PROJECT, script, start: false });
  return stage;
}

async function doctor(place: Stage, args: readonly string[] = []) {
  const outcome = await place.cli(['doctor', '--json', ...args]);
  for (const role of ROLES) expect(outcome.stdout + outcome.stderr).not.toContain(keyOf(role));
  const { checks } = JSON.parse(outcome.stdout) as { checks: readonly Check[] };
  return { code: outcome.code, checks, errors: checks.filter((check) => !check.ok) };
}

async function requestsByRole(place: Stage): Promise<readonly [string, number, number][]> {
  const report = await place.json<{ rows: { role: string; requests: number; workTokens: number }[] }>(['report']);
  return report.rows.map((row) => [row.role, row.requests, row.workTokens]);
}

test('without a daemon and with one, the report shows the requests as rows of their role', async () => {
  const place = await open();
  const alone = await doctor(place);
  expect(alone.errors).toEqual([]);
  expect(alone.code).toBe(0);
  expect(place.books.map((row) => row.key).sort()).toEqual(ROLES.map(keyOf));

  await must(place.cli(['start']));
  expect(await requestsByRole(place)).toEqual(ROLES.map((role) => [role, 1, 13]));
  const withDaemon = await doctor(place);
  expect(withDaemon.errors).toEqual([]);
  expect(withDaemon.checks.find(({ name }) => name === 'daemon')?.symptom).toMatch(/^runs; sandbox /);
  expect(await requestsByRole(place)).toEqual(ROLES.map((role) => [role, 2, 26]));
  expect((await doctor(place, ['--role', 'coder'])).code).toBe(0);
  expect((await requestsByRole(place))[0]).toEqual(['coder', 3, 39]);
  const rows = queryState<{ run: string | null; state: string }>(place, 'SELECT run, state FROM calls');
  expect(rows).toHaveLength(9);
  expect(rows.filter(({ run, state }) => run !== null || state !== 'settled')).toEqual([]);
  const report = await place.json<{ rows: { run: string }[] }>(['report', '--by', 'run']);
  expect(report.rows.map(({ run }) => run)).toEqual(['-']);
});

test('with a daemon it is the key on disk that is asked about', async () => {
  const place = await open(({ key }) =>
    key === keyOf('coder') ? { text: 'ok' } : { status: 401, text: `invalid key ${key}` },
  );
  await must(place.cli(['start']));
  expect((await doctor(place, ['--role', 'coder'])).code).toBe(0);
  const { env } = await place.json<{ env: string }>(['path']);
  await writeFile(env, (await readFile(env, 'utf8')).replace(keyOf('coder'), 'sk-revoked-0123456789abcdef'));
  const { code, errors } = await doctor(place, ['--role', 'coder']);
  expect(code).toBe(1);
  expect(errors.map(({ name, cause }) => [name, cause])).toEqual([
    ['model coder', 'the endpoint does not accept the key …cdef of role coder'],
  ]);
  const { stdout } = await place.cli(['doctor', '--role', 'coder']);
  expect(stdout).toContain('invalid key [key …cdef]');
  const log = await readFile(path.join(place.state, 'logs', 'daemon.log'), 'utf8');
  expect(log).not.toContain('sk-revoked-0123456789abcdef');
});

test('what start refuses is explained by doctor, and start works once it is done', async () => {
  const place = await open();
  const { env } = await place.json<{ env: string }>(['path']);
  const complete = await readFile(env, 'utf8');
  await writeFile(env, complete.replace(/^ORCH_(KEY|MODEL)_CODER=.*$/gm, ''));
  await place.git('branch', 'orchestrator');
  expect((await place.cli(['start'])).code).toBe(2);
  const { errors } = await doctor(place);
  expect(errors.map(({ name }) => name).sort()).toEqual(['branch', 'key coder', 'model coder']);
  await place.git('branch', '-m', 'orchestrator', 'other');
  await writeFile(env, complete);
  expect((await doctor(place)).errors).toEqual([]);
  await must(place.cli(['start']));
});

test('while one doctor holds the ledger another asks nobody, and start waits for its turn', async () => {
  const place = await open(async () => {
    await sleep(4000);
    return { text: 'ok' };
  });
  const first = doctor(place, ['--role', 'coder']);
  const sent = () =>
    queryState<{ n: number }>(place, "SELECT count(*) AS n FROM calls WHERE state = 'sent'")[0]?.n === 1;
  await until(() => isTrue(sent), 'the first doctor asks');
  const starting = place.cli(['start']);
  const second = await doctor(place, ['--role', 'test']);
  expect(second.errors.map(({ name }) => name)).toEqual(['daemon']);
  expect((await first).code).toBe(0);
  await must(starting);
  expect(await requestsByRole(place)).toEqual([['coder', 1, expect.any(Number)]]);
});

/** False as well while there is no database yet. */
function isTrue(look: () => boolean): boolean {
  try {
    return look();
  } catch {
    return false;
  }
}
