import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessIdentity } from '../../../src/sandbox/process-identity.ts';
import { crashScript } from './crash-script.ts';
import { daemonPid, killNow, lockHolder, until } from './kill.ts';
import { SRC_PROJECT } from './project.ts';
import { approveAll, type CheckpointRow, must, openStage, type ShownRun, type Stage } from './stage.ts';
import { furnish } from './user-state.ts';

/** A stage for the crash script: a coder's budget that is reached, and everything of the user's that must stay. */
export async function openCrashStage(delayMs: number): Promise<Stage> {
  const stage = await openStage({ files: SRC_PROJECT, start: false, script: crashScript(delayMs) });
  await stage.edit('policies/roles/coder.yaml', (text) =>
    text.replace(/task: [\w]+/, 'task: 40k').replace(/allow: \[[^\]]*\]/s, 'allow: ["**"]'),
  );
  await furnish(stage, 'pyproject.toml');
  await must(stage.cli(['start']));
  return stage;
}

export interface Killer {
  readonly kills: number;
  /** What lived below the daemon at each kill. */
  readonly below: readonly (readonly ProcessIdentity[])[];
  /** Kills the daemon now and starts it again; false when it was down. */
  strike(): Promise<boolean>;
}

export function openKiller(stage: Stage, chance: () => number): Killer {
  const below: (readonly ProcessIdentity[])[] = [];
  const kill = async (pid: number | undefined): Promise<boolean> => {
    const found = pid === undefined ? undefined : await killNow(pid);
    if (found !== undefined) below.push(found);
    return found !== undefined;
  };
  return {
    get kills() {
      return below.length;
    },
    below,
    async strike() {
      if (!(await kill(await daemonPid(stage)))) return false;
      // One start in five is itself cut short, at some point between the lock and ready.
      if (chance() < 0.2) await strikeWhileStarting(stage, chance, kill);
      await must(stage.cli(['start']));
      return true;
    },
  };
}

async function strikeWhileStarting(
  stage: Stage,
  chance: () => number,
  kill: (pid: number | undefined) => Promise<boolean>,
): Promise<void> {
  const before = await lockHolder(stage);
  const starting = stage.cli(['start']);
  await until(async () => (await lockHolder(stage)) !== before, 'the lock has a new holder');
  await sleep(chance() * 500);
  await kill(await lockHolder(stage));
  await starting;
}

const ENDED = ['merged', 'failed', 'rejected', 'cancelled', 'budget_exhausted'];

/** A user who goes on whatever a command answers: asks again, answers what waits, until the run has ended. */
export async function persist(
  stage: Stage,
  run: string,
  options: { until?: (shown: ShownRun) => boolean; leave?: string; timeoutMs: number },
): Promise<{ shown: ShownRun; asked: ReadonlyMap<string, CheckpointRow> }> {
  const asked = new Map<string, CheckpointRow>();
  const deadline = Date.now() + options.timeoutMs;
  let last = 'no answer yet';
  while (Date.now() < deadline) {
    const pending = await stage.cli(['checkpoints', '--json']);
    for (const checkpoint of pending.code === 0 ? (JSON.parse(pending.stdout) as CheckpointRow[]) : []) {
      asked.set(checkpoint.id, checkpoint);
      if (checkpoint.kind !== options.leave) await stage.cli((await approveAll(checkpoint)) ?? []);
    }
    const outcome = await stage.cli(['show', run, '--json']);
    if (outcome.code === 0) {
      last = outcome.stdout;
      const shown = JSON.parse(outcome.stdout) as ShownRun;
      if (ENDED.includes(shown.state) || options.until?.(shown)) return { shown, asked };
    }
    await sleep(100);
  }
  throw new Error(`run ${run} did not come to rest: ${last}`);
}
