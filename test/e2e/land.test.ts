import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { finish, quietRoles, SRC_PROJECT, write } from './support/project.ts';
import { scenes } from './support/scenes.ts';
import { must, openStage, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const CORE = 'def add(a, b):\n    return b + a\n';

/** A merged run that waits to be landed. */
async function merged(): Promise<{ stage: Stage; run: string; target: string }> {
  const { script } = scenes({ swap: { ...quietRoles(), coder: [write('src/pkg/core.py', CORE), finish()] } });
  const opened = await openStage({ files: SRC_PROJECT, script });
  stage = opened;
  const { shown } = await play(opened, 'swap');
  expect(shown.state, shown.reason ?? '').toBe('merged');
  return { stage: opened, run: shown.run, target: shown.target };
}

async function stateOf(opened: Stage): Promise<string> {
  return [
    await opened.git('rev-parse', 'HEAD'),
    await opened.git('status', '--porcelain'),
    await opened.git('diff'),
    await opened.git('for-each-ref'),
  ].join('\n');
}

it('refuses before it touches dirty files that overlap, then goes forward, then has nothing to do', async () => {
  const { stage: opened, run, target } = await merged();
  const core = path.join(opened.project, 'src/pkg/core.py');
  await writeFile(core, 'mine = 1\n');
  const before = await stateOf(opened);
  const refused = await opened.cli(['land', run]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain('src/pkg/core.py');
  expect(await stateOf(opened)).toBe(before);

  await opened.git('checkout', '-q', '--', 'src/pkg/core.py');
  await writeFile(path.join(opened.project, 'src/pkg/util.py'), 'mine = 1\n');
  const landed = await must(opened.cli(['land', run]));
  expect(landed.stdout).toContain('fast-forward');
  expect(await opened.git('rev-parse', 'main')).toBe(await opened.git('rev-parse', target));
  expect(await opened.git('status', '--porcelain')).toBe('M src/pkg/util.py');
  expect((await must(opened.cli(['land', run]))).stdout).toContain('already');
});

it('merges and verifies when the branch has moved, and refuses what does not pass', async () => {
  const { stage: opened, run } = await merged();
  await opened.edit('tests/test_core.py', (text) => text.replace('3)', '4)'));
  await opened.git('commit', '-qam', 'a test that fails');
  const before = await stateOf(opened);
  const failing = await opened.cli(['land', run]);
  expect(failing.code).toBe(5);
  expect(failing.stderr).toContain('does not pass verify');
  expect(await stateOf(opened)).toBe(before);

  await opened.git('reset', '-q', '--hard', 'HEAD~1');
  await opened.edit('src/pkg/util.py', (text) => `${text}FOUR = 4\n`);
  await opened.git('commit', '-qam', 'moved');
  const landed = await must(opened.cli(['land', run]));
  expect(landed.stdout).toContain('merge');
  expect(await opened.git('log', '--format=%s', '-1', 'main^1')).toBe('moved');
  expect(await opened.git('show', 'main:src/pkg/core.py')).toBe(CORE.trim());
  expect(await opened.git('show', 'main:src/pkg/util.py')).toContain('FOUR');
  expect(
    await opened.git('log', '-1', '--format=%(trailers:key=Agent-Role)%(trailers:key=Orchestrator-Run,valueonly)'),
  ).toBe(run);
});

it('conflicting work is refused, --branch and --squash put the result elsewhere and in one commit', async () => {
  const { stage: opened, run } = await merged();
  const main = await opened.git('rev-parse', 'main');
  await must(opened.cli(['land', run, '--branch', 'fresh']));
  expect(await opened.git('show', 'fresh:src/pkg/core.py')).toBe(CORE.trim());
  expect(await opened.git('rev-parse', 'main')).toBe(main);
  await must(opened.cli(['land', run, '--branch', 'flat', '--squash']));
  expect(await opened.git('rev-list', '--count', 'main..flat')).toBe('1');
  expect(await opened.git('log', '-1', '--format=%s', 'flat')).toBe('swap');

  await opened.edit('src/pkg/core.py', (text) => text.replace('a + b', 'sum((a, b))'));
  await opened.git('commit', '-qam', 'another swap');
  const before = await stateOf(opened);
  const refused = await opened.cli(['land', run]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain('src/pkg/core.py');
  expect(await stateOf(opened)).toBe(before);
  expect((await opened.cli(['land', 'r-nothing'])).code).toBe(2);
});
