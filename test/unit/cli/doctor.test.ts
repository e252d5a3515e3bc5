import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { environmentChecks } from '../../../src/cli/doctor/environment.ts';
import { judgeWatches } from '../../../src/cli/doctor/watching.ts';
import { countDirectories, readWatchLimit } from '../../../src/watch/limits.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'orch-doctor-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('an ordinary environment is no finding', async () => {
  expect(
    await environmentChecks({ env: { PATH: '/bin', HOME: home, ORCH_KEY_CODER: 'x', NO_PROXY: '*' }, home }),
  ).toEqual([]);
});

test.each([
  ['HTTPS_PROXY', 'http://proxy.test', 'proxy'],
  ['all_proxy', 'socks://proxy.test', 'proxy'],
  ['ANTHROPIC_API_KEY', 'sk-decoy-value', 'environment'],
  ['ANTHROPIC_CUSTOM_HEADERS', 'x-api-key: sk-decoy-value', 'environment'],
  ['OPENAI_BASE_URL', 'http://decoy.test', 'environment'],
  ['NODE_TLS_REJECT_UNAUTHORIZED', '0', 'environment'],
])('%s is told by its name alone', async (variable, value, name) => {
  const checks = await environmentChecks({ env: { [variable]: value }, home });
  expect(checks).toEqual([expect.objectContaining({ name, level: 'warning', ok: true })]);
  expect(checks[0]?.symptom).toContain(variable);
  if (value !== '0') expect(JSON.stringify(checks)).not.toContain(value);
});

test("settings of the user's own client are told", async () => {
  mkdirSync(join(home, '.claude'));
  writeFileSync(join(home, '.claude', 'settings.json'), '{"env":{"ANTHROPIC_BASE_URL":"http://decoy.test","FOO":"1"}}');
  const [check] = await environmentChecks({ env: {}, home });
  expect(check?.symptom).toBe('~/.claude/settings.json sets ANTHROPIC_BASE_URL');
  writeFileSync(join(home, '.claude', 'settings.json'), '{ not json');
  expect(await environmentChecks({ env: {}, home })).toEqual([]);
});

test('watches are counted for the checkout and every slot', () => {
  expect(judgeWatches({ directories: 1000, slots: 4, limit: 8192 })).toMatchObject({ level: 'ok' });
  expect(judgeWatches({ directories: 2000, slots: 4, limit: 8192 })).toMatchObject({ level: 'warning', ok: true });
  expect(judgeWatches({ directories: 101, slots: 4, limit: 100 }).cause).toContain('more than 100 directories');
});

test('directories are counted as the watcher watches them: without .git, links and files, up to a bound', async () => {
  mkdirSync(join(home, 'a', 'b', 'c'), { recursive: true });
  mkdirSync(join(home, '.git', 'objects'), { recursive: true });
  writeFileSync(join(home, 'a', 'file'), '');
  expect(await countDirectories(home, 100)).toBe(4);
  expect(await countDirectories(home, 2)).toBe(2);
  writeFileSync(join(home, 'limit'), '8192\n');
  expect(await readWatchLimit(join(home, 'limit'))).toBe(8192);
  expect(await readWatchLimit(join(home, 'nowhere'))).toBeUndefined();
});
