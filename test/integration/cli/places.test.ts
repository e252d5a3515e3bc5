import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePlace, type Place } from './cli-process.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

test.each(['a b', 'c#', 'q"uote', 'new\nline', 'two:parts'])(
  'a checkout in a directory named %j is found',
  async (name) => {
    const moved = join(place.directory, name);
    renameSync(place.repository, moved);
    const env = { ORCHESTRATOR_STATE_DIR: '', XDG_STATE_HOME: join(place.directory, 'xdg') };
    expect(await place.cli(['init', '--yes'], { cwd: moved, env })).toMatchObject({ code: 0 });
    const found = await place.cli(['policy', 'check'], { cwd: moved, env });
    expect(found).toMatchObject({ code: 0 });
    mkdirSync(join(moved, 'below'));
    const status = await place.cli(['status'], { cwd: join(moved, 'below'), env });
    expect(status.stderr).toContain('the daemon is not running');
    expect(status.code).toBe(6);
  },
);

test.each([['init', '--yes'], ['status'], ['policy', 'check']])(
  'a directory that does not exist is no stack trace: %s',
  async (...args) => {
    const finished = await place.cli(['-C', join(place.directory, 'gone'), ...args]);
    expect(finished).toMatchObject({ code: 2, stdout: '' });
    expect(finished.stderr).toMatch(/^orchestrator: .*gone/);
    expect(finished.stderr).not.toMatch(/^\s+at /m);
  },
);

test('what git says against a repository reaches the person', async () => {
  const inside = await place.cli(['status', '-C', '.git']);
  expect(inside).toMatchObject({ code: 2 });
  expect(inside.stderr).toMatch(/git cannot use the repository.*must be run in a work tree/);
  place.git('config', 'core.repositoryFormatVersion', '99');
  for (const args of [
    ['policy', 'check'],
    ['init', '--yes'],
  ]) {
    const finished = await place.cli(args);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toMatch(/git cannot use the repository.*version/i);
  }
});

test('an empty list on standard input is an empty answer; no list at all is a mistake', async () => {
  const explain = ['policy', 'explain', '--profile', 'cpython', '--json'];
  expect(await place.cli([...explain, '--stdin'], { input: '' })).toMatchObject({ code: 0, stdout: '[]\n' });
  expect((await place.cli([...explain, '--stdin'], { input: 'Lib/x.py\n' })).stdout).toContain('"Lib/x.py"');
  expect((await place.cli(explain)).code).toBe(2);
});

test('help names a command below another', async () => {
  const finished = await place.cli(['help', 'policy', 'explain']);
  expect(finished.code).toBe(0);
  expect(finished.stdout).toContain('Usage: orchestrator policy explain');
});
