import { setTimeout as delay } from 'node:timers/promises';
import { OrchestratorError } from '../domain/errors.ts';
import { FINAL_STATES, type RunState } from '../domain/run.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import { type Given, isGiven } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

/** Returns when the daemon's process is gone, so that a `start` right after it finds the lock free. */
export async function stop(io: Io, given: Given): Promise<number> {
  const now = isGiven(given, 'now');
  const { pid, drained } = await withDaemon(io, async (api) => {
    const status = await api.status();
    const unfinished = status.runs.filter((run) => !FINAL_STATES.has(run.state as RunState)).map((run) => run.id);
    if (unfinished.length > 0) mention(io, now ? 'ending agents …' : 'waiting for turns to end …');
    await api.stop({ now });
    return { pid: status.daemon.pid, drained: unfinished };
  });
  await waitUntilGone(io, pid);
  if (io.json) printJson(io, { stopped: true, pid, runs: drained });
  else say(io, drained.length === 0 ? 'stopped' : `stopped; these go on at the next start: ${drained.join(', ')}`);
  return 0;
}

const LONGEST_EXIT_MS = 60_000;
const LOOK_MS = 50;

async function waitUntilGone(io: Io, pid: number): Promise<void> {
  const deadline = io.now() + LONGEST_EXIT_MS;
  while (io.isAlive(pid)) {
    if (io.now() > deadline) {
      throw new OrchestratorError(
        'failed',
        `the daemon (pid ${pid}) said it stops and is still there: see \`orchestrator logs\``,
      );
    }
    await delay(LOOK_MS, undefined, { signal: io.signal });
  }
}
