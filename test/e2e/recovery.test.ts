import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { connectApi } from '../../src/api/client.ts';
import { type Reply, tableScript } from '../../src/cli/demo/script.ts';
import { persist } from './support/crash-run.ts';
import { daemonPid, killNow, until } from './support/kill.ts';
import { changeState, queryState } from './support/ledger.ts';
import { finish, quietRoles, reply, SRC_PROJECT } from './support/project.ts';
import { must, openStage, type Stage } from './support/stage.ts';
import { lockFiles } from './support/user-state.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const HONEST = reply({ name: 'edit_file', input: { path: 'src/pkg/util.py', old_text: 'ONE', new_text: 'ONE_' } });
const RESULT = 'ONE_ = 1\nTWO = 2\nTHREE = 3';

async function begin(
  coder: readonly Reply[],
  options: { policy?: (opened: Stage) => Promise<void> } = {},
): Promise<{ opened: Stage; run: string }> {
  const script = tableScript({ ...quietRoles(), coder });
  const opened = await openStage({ files: SRC_PROJECT, script, start: false });
  stage = opened;
  await opened.edit('policies/roles/coder.yaml', (text) => text.replace(/allow: \[[^\]]*\]/s, 'allow: ["**"]'));
  await options.policy?.(opened);
  await must(opened.cli(['start']));
  const { run } = await opened.json<{ run: string }>(['run', 'rename']);
  return { opened, run };
}

async function kill(opened: Stage): Promise<void> {
  expect(await killNow(await daemonPid(opened))).toBeDefined();
}

it('carries out an approval that comes the moment the question is there', async () => {
  const { opened, run } = await begin([HONEST, finish()]);
  await persist(opened, run, { timeoutMs: 60_000, until: (shown) => (shown.tasks[0]?.steps.length ?? 0) > 0 });
  const { socket } = await opened.json<{ socket: string }>(['path']);
  const api = await connectApi(socket, { uid: process.getuid?.() ?? 0 });
  try {
    let approved = false;
    await until(async () => {
      const merge = (await api.checkpoints(false)).find((checkpoint) => checkpoint.kind === 'merge');
      if (merge === undefined) return false;
      expect((await api.approve({ id: merge.id, by: 'a fast hand' })).message).toContain('orchestrator land');
      approved = true;
      return true;
    }, 'the merge is asked');
    expect(approved).toBe(true);
    expect((await api.showRun(run))?.state).toBe('merged');
  } finally {
    api.close();
  }
});

it('finishes a cancellation that the crash cut in half', async () => {
  const { opened, run } = await begin([HONEST, finish()]);
  await persist(opened, run, { timeoutMs: 60_000, leave: 'plan', until: (shown) => shown.state === 'paused' });
  expect(await opened.json<unknown[]>(['checkpoints'])).toHaveLength(1);
  await kill(opened);
  changeState(
    opened,
    `UPDATE runs SET state = 'cancelled', data = json_set(data, '$.state', 'cancelled') WHERE id = '${run}'`,
  );
  await must(opened.cli(['start']));
  expect(await opened.json<unknown[]>(['checkpoints'])).toEqual([]);
  const all = await opened.json<{ state: string }[]>(['checkpoints', '--all']);
  expect(all.map((checkpoint) => checkpoint.state)).toEqual(['void']);
  const shown = await opened.json<{ state: string; tasks: { state: string }[] }>(['show', run]);
  expect([shown.state, ...shown.tasks.map((task) => task.state)]).toEqual(['cancelled', 'cancelled']);
});

it('asks anew when the target moved between the approval and the crash', async () => {
  const { opened, run } = await begin([HONEST, finish()]);
  await persist(opened, run, { timeoutMs: 60_000, leave: 'merge', until: (shown) => shown.state === 'ready' });
  await kill(opened);
  // What is on disk when the daemon dies after it saw that the target was elsewhere: the approval is spent, the intent void.
  changeState(
    opened,
    "UPDATE checkpoints SET state = 'approved', data = json_set(data, '$.usedBy', 'i-gone') WHERE kind = 'merge'",
  );
  await writeFile(path.join(opened.project, 'OTHER.txt'), 'by somebody else\n');
  await opened.git('checkout', '-q', '-b', `orchestrator/${run}`);
  await opened.git('add', 'OTHER.txt');
  await opened.git('commit', '-qm', 'by somebody else');
  await opened.git('checkout', '-q', 'main');
  await must(opened.cli(['start']));
  const { shown, asked } = await persist(opened, run, { timeoutMs: 60_000 });
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect([...asked.values()].map((checkpoint) => checkpoint.kind)).toEqual(['merge']);
  expect(await opened.git('show', `${shown.target}:src/pkg/util.py`)).toBe(RESULT);
  expect(await opened.git('show', `${shown.target}:OTHER.txt`)).toBe('by somebody else');
});

it('is not blocked by lock files of a git that died with the machine', async () => {
  const { opened, run } = await begin([HONEST, finish()]);
  await persist(opened, run, { timeoutMs: 60_000, leave: 'plan', until: (shown) => shown.state === 'paused' });
  await kill(opened);
  const store = path.join(opened.state, 'store.git');
  await mkdir(path.join(store, 'refs/orchestrator', run, 'T1'), { recursive: true });
  for (const name of [
    'packed-refs.lock',
    `refs/orchestrator/${run}/result.lock`,
    `refs/orchestrator/${run}/T1/head.lock`,
  ]) {
    await writeFile(path.join(store, name), '');
  }
  await must(opened.cli(['start']));
  const { shown } = await persist(opened, run, { timeoutMs: 60_000 });
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(await lockFiles(store)).toEqual([]);
});

it('counts the refused writes of a turn once, however often the turn is repeated', async () => {
  const refused = ['a', 'b', 'c'].map((name) => ({
    name: 'write_file',
    input: { path: `tests/test_${name}.py`, content: '' },
  }));
  const slow = { name: 'run_command', input: { command: 'sleep 2' } };
  const { opened, run } = await begin([reply(...refused, slow), HONEST, finish()]);
  await persist(opened, run, { timeoutMs: 60_000, until: () => refusedSoFar(opened) === 3 });
  await kill(opened);
  await must(opened.cli(['start']));
  const { shown } = await persist(opened, run, { timeoutMs: 60_000 });
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(refusedSoFar(opened), 'the turn was repeated').toBe(6);
  // Six would be over the limit of a step; the three of its one turn are not.
  const all = await opened.json<{ kind: string }[]>(['checkpoints', '--all']);
  expect(all.map((checkpoint) => checkpoint.kind).sort()).toEqual(['merge', 'plan']);
});

function refusedSoFar(opened: Stage): number {
  return queryState(opened, "SELECT id FROM violations WHERE path LIKE 'tests/%'").length;
}

it('without a sandbox, ends at the next start what agents of a dead daemon left running', async () => {
  const lingering = reply({ name: 'run_command', input: { command: 'setsid sleep 313 & sleep 313' } });
  const { opened, run } = await begin([lingering, HONEST, finish()], {
    policy: (opened) => opened.edit('policies/global.yaml', (text) => text.replace('mode: auto', 'mode: detect-only')),
  });
  const mark = `ORCH_AGENT=${run}/T1/coder#1`;
  await persist(opened, run, { timeoutMs: 60_000, until: () => marked(mark, 'sleep').length >= 2 });
  await kill(opened);
  await sleep(300);
  expect(marked(mark, 'sleep').length, 'they outlive the daemon').toBeGreaterThan(0);
  const before = marked(mark, 'sleep');
  await must(opened.cli(['start']));
  expect(before.filter((pid) => marked(mark, 'sleep').includes(pid))).toEqual([]);
  await must(opened.cli(['stop', '--now']));
  expect(marked(mark, 'sleep')).toEqual([]);
});

/** Processes that carry the mark of an agent and run this program. */
function marked(mark: string, program: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      return environment.includes(mark) && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === program;
    } catch {
      return false;
    }
  });
}
