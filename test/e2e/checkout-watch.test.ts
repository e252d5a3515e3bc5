import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { command, finish, quietRoles, SRC_PROJECT, write } from './support/project.ts';
import { ANY_COMMAND, configure, scenes } from './support/scenes.ts';
import { follow, must, openStage, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const CORE = 'def add(a, b):\n    return b + a\n';
const UTIL = 'src/pkg/util.py';

interface ViolationRow {
  readonly path: string;
  readonly attribution: string;
  readonly tree: string;
  readonly detectedBy: string;
}

async function open(sandbox: 'detect-only' | 'auto', coder: Parameters<typeof scenes>[0][string]): Promise<Stage> {
  const { script } = scenes({ work: { ...quietRoles(), ...coder } });
  const opened = await openStage({ files: SRC_PROJECT, script, start: false });
  stage = opened;
  await configure(opened, 'roles/coder.yaml', [ANY_COMMAND]);
  if (sandbox !== 'auto') await configure(opened, 'global.yaml', [['mode: auto', `mode: ${sandbox}`]]);
  await must(opened.cli(['start']));
  return opened;
}

async function inCheckout(opened: Stage): Promise<readonly ViolationRow[]> {
  return (await opened.json<ViolationRow[]>(['violations'])).filter((row) => row.tree === 'checkout');
}

it('without a sandbox a write into the checkout is seen while the agent works, and left alone', async () => {
  const opened = await open('detect-only', {
    coder: [
      command(
        `for d in /tmp/orch-e2e-*/project; do [ "$(dirname $d)" = "$(dirname "$PWD" | sed 's#/state/.*##')" ] && echo "# agent" >> $d/${UTIL}; done; echo tried`,
      ),
      { ...write('src/pkg/core.py', CORE), delayMs: 6000 },
      finish(),
    ],
  });
  const { run } = await opened.json<{ run: string }>(['run', 'work', '--role', 'coder']);
  const wrote = async (): Promise<boolean> =>
    (await readFile(path.join(opened.project, UTIL), 'utf8')).includes('# agent');
  const deadline = Date.now() + 20_000;
  while (!(await wrote()) && Date.now() < deadline) await sleep(50);
  expect(await wrote()).toBe(true);
  const at = Date.now();
  let seen: readonly ViolationRow[] = [];
  while (seen.length === 0 && Date.now() - at < 5000) seen = await inCheckout(opened);
  expect(seen).toMatchObject([{ path: UTIL, tree: 'checkout', detectedBy: 'watch' }]);
  expect(['role', 'ambiguous']).toContain(seen[0]?.attribution);
  expect(await wrote()).toBe(true);
  const { shown } = await follow(opened, run);
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(await opened.git('diff', '--name-only', 'main', shown.target)).toBe('src/pkg/core.py');
});

it('with a sandbox what changes in the checkout is the user at work', async () => {
  const opened = await open('auto', { coder: [{ ...write('src/pkg/core.py', CORE), delayMs: 4000 }, finish()] });
  const status = await opened.json<{ daemon: { sandbox: string } }>(['status']);
  expect(status.daemon.sandbox).not.toBe('detect-only');
  const { run } = await opened.json<{ run: string }>(['run', 'work', '--role', 'coder']);
  await sleep(1000);
  await appendFile(path.join(opened.project, UTIL), '# mine\n');
  const { shown } = await follow(opened, run);
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(await opened.json(['violations'])).toEqual([]);
  expect(await readFile(path.join(opened.project, UTIL), 'utf8')).toContain('# mine');
});
