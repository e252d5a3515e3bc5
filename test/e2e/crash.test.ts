import { randomInt } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { tableScript } from '../../src/cli/demo/script.ts';
import {
  expectCheckpoints,
  expectLedger,
  expectNotesOnce,
  expectTarget,
  expectTurnsOnce,
} from './support/crash-claims.ts';
import { openCrashStage, openKiller, persist } from './support/crash-run.ts';
import { daemonPid, descendants, killNow, seededChance, survivors, until } from './support/kill.ts';
import { queryState } from './support/ledger.ts';
import { finish, quietRoles, reply, SRC_PROJECT } from './support/project.ts';
import { must, openStage, type Stage } from './support/stage.ts';
import { furnish, lockFiles, userState } from './support/user-state.ts';

const KILLS = Number(process.env['ORCH_KILLS'] ?? 10);
const SEED = Number(process.env['ORCH_SEED'] ?? randomInt(2 ** 31));

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function expectNothingLeft(opened: Stage, before: unknown): Promise<void> {
  expect(await userState(opened)).toEqual(before);
  expect(await lockFiles(path.join(opened.project, '.git'))).toEqual([]);
  expect(await lockFiles(path.join(opened.state, 'store.git'))).toEqual([]);
  await must(opened.cli(['stop']));
}

it(
  `survives kill -9 at ${KILLS} random moments of one run`,
  async () => {
    console.log(`ORCH_SEED=${SEED} ORCH_KILLS=${KILLS}`);
    const chance = seededChance(SEED);
    const opened = await openCrashStage(350);
    stage = opened;
    const before = await userState(opened);
    const { run } = await opened.json<{ run: string }>(['run', 'wrap and lengthen']);
    const killer = openKiller(opened, chance);
    const user = persist(opened, run, { timeoutMs: 120_000 + KILLS * 15_000 });
    let ended = false;
    void user
      .finally(() => {
        ended = true;
      })
      .catch(() => undefined);
    while (killer.kills < KILLS && !ended) {
      await sleep(50 + chance() * 2200);
      if (!ended) await killer.strike();
    }
    const { shown, asked } = await user;
    expect(shown.state, shown.reason ?? '').toBe('merged');
    expect(killer.kills).toBeGreaterThanOrEqual(KILLS);
    await expectTarget(opened, shown);
    await expectCheckpoints(opened, asked);
    expectTurnsOnce(opened);
    const { forfeit } = await expectLedger(opened, killer.kills);
    console.log(`${killer.kills} kills, ${forfeit} calls in flight at one, ${opened.books.length} answers`);
    await expectNotesOnce(opened);
    // Agents were at work at some of the kills; none of their processes is there any more.
    expect(killer.below.flat().length).toBeGreaterThan(0);
    expect(await survivors(killer.below.flat())).toEqual([]);
    const last = { pid: await daemonPid(opened), parent: 0, group: 0, startTicks: 0 };
    expect(descendants(last), 'processes of the daemon after the run').toEqual([]);
    await expectNothingLeft(opened, before);
  },
  180_000 + KILLS * 20_000,
);

describe('a kill inside the merge', () => {
  const script = tableScript({
    ...quietRoles(),
    coder: [
      reply({ name: 'edit_file', input: { path: 'src/pkg/util.py', old_text: 'ONE', new_text: 'ONE_' } }),
      finish(),
    ],
  });

  async function beginSmall(): Promise<{ opened: Stage; run: string; before: unknown }> {
    const opened = await openStage({ files: SRC_PROJECT, script });
    stage = opened;
    await furnish(opened, 'pyproject.toml');
    const before = await userState(opened);
    const { run } = await opened.json<{ run: string }>(['run', 'rename']);
    return { opened, run, before };
  }

  async function expectMergedOnce(opened: Stage, run: string, before: unknown): Promise<void> {
    const { shown } = await persist(opened, run, { timeoutMs: 60_000 });
    expect(shown.state, shown.reason ?? '').toBe('merged');
    expect(await opened.git('show', `${shown.target}:src/pkg/util.py`)).toBe('ONE_ = 1\nTWO = 2\nTHREE = 3');
    expect(await opened.git('rev-list', '--count', `main..${shown.target}`)).toBe('1');
    expect(await opened.git('rev-parse', shown.target)).toBe(shown.commit);
    const merges = (await opened.json<{ kind: string; state: string }[]>(['checkpoints', '--all'])).filter(
      (checkpoint) => checkpoint.kind === 'merge',
    );
    expect(merges).toMatchObject([{ state: 'approved' }]);
    const moves = "SELECT type FROM events WHERE type IN ('merge-finished', 'run-ended') ORDER BY type";
    expect(queryState<{ type: string }>(opened, moves).map((row) => row.type)).toEqual(['merge-finished', 'run-ended']);
    await expectNothingLeft(opened, before);
  }

  it('while the result is verified: it is prepared again and asked once', async () => {
    const { opened, run, before } = await beginSmall();
    const { shown } = await persist(opened, run, { timeoutMs: 90_000, until: (now) => now.state === 'verifying' });
    expect(shown.state).toBe('verifying');
    const killed = await killNow(await daemonPid(opened));
    expect(await survivors(killed ?? [])).toEqual([]);
    await must(opened.cli(['start']));
    await expectMergedOnce(opened, run, before);
  });

  it.each([0, 30, 80, 200])('%i ms after the approval was durable: the target moves once', async (afterMs) => {
    const { opened, run, before } = await beginSmall();
    await persist(opened, run, { timeoutMs: 90_000, leave: 'merge', until: (now) => now.state === 'ready' });
    const [merge] = await opened.json<{ id: string; kind: string }[]>(['checkpoints']);
    expect(merge?.kind).toBe('merge');
    const pid = await daemonPid(opened);
    const approving = opened.cli(['approve', merge?.id ?? '']);
    const approved = "SELECT id FROM checkpoints WHERE kind = 'merge' AND state = 'approved'";
    await until(() => queryState(opened, approved).length === 1, 'the approval is durable');
    if (afterMs > 0) await sleep(afterMs);
    await killNow(pid);
    await approving;
    await must(opened.cli(['start']));
    await expectMergedOnce(opened, run, before);
  });
});
