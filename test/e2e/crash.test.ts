import { randomInt } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
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
import { must, type Stage } from './support/stage.ts';
import { lockFiles, userState } from './support/user-state.ts';

const KILLS = Number(process.env['ORCH_KILLS'] ?? 10);
const SEED = Number(process.env['ORCH_SEED'] ?? randomInt(2 ** 31));

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function begin(delayMs: number): Promise<{ opened: Stage; run: string; before: unknown }> {
  const opened = await openCrashStage(delayMs);
  stage = opened;
  const before = await userState(opened);
  const { run } = await opened.json<{ run: string }>(['run', 'wrap and lengthen']);
  return { opened, run, before };
}

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
    const { opened, run, before } = await begin(350);
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
  it('while the result is verified: it is prepared again and asked once', async () => {
    const { opened, run, before } = await begin(20);
    const verifying = await persist(opened, run, { timeoutMs: 90_000, until: (shown) => shown.state === 'verifying' });
    expect(verifying.shown.state).toBe('verifying');
    const killed = await killNow(await daemonPid(opened));
    expect(killed).toBeDefined();
    expect(await survivors(killed ?? [])).toEqual([]);
    await must(opened.cli(['start']));
    const { shown, asked } = await persist(opened, run, { timeoutMs: 90_000 });
    expect(shown.state, shown.reason ?? '').toBe('merged');
    await expectTarget(opened, shown);
    await expectCheckpoints(opened, asked);
    await expectNothingLeft(opened, before);
  });

  it.each([0, 25, 60, 120, 250])('%i ms after the approval was durable: it moves the target once', async (afterMs) => {
    const { opened, run, before } = await begin(20);
    await persist(opened, run, { timeoutMs: 90_000, until: (shown) => shown.state === 'ready' });
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
    const { shown, asked } = await persist(opened, run, { timeoutMs: 60_000 });
    expect(shown.state, shown.reason ?? '').toBe('merged');
    await expectTarget(opened, shown);
    await expectCheckpoints(opened, asked);
    await expectNothingLeft(opened, before);
  });
});
