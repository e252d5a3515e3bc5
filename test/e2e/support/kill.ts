import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameProcess, type ProcessIdentity, readProcess } from '../../../src/sandbox/process-identity.ts';
import type { Stage } from './stage.ts';

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export async function daemonPid(stage: Stage): Promise<number> {
  return (await stage.json<{ daemon: { pid: number } }>(['status'])).daemon.pid;
}

/** Who holds the daemon's lock, also while it is still starting. */
export async function lockHolder(stage: Stage): Promise<number | undefined> {
  const text = await readFile(path.join(stage.state, 'lock.db.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isNaN(pid) ? undefined : pid;
}

/** kill -9, and what the process had below it at that moment. Undefined when it was gone already. */
export async function killNow(pid: number): Promise<readonly ProcessIdentity[] | undefined> {
  const daemon = readProcess(pid);
  if (daemon === undefined) return undefined;
  const below = descendants(daemon);
  process.kill(pid, 'SIGKILL');
  await until(() => !isSameProcess(daemon), `daemon ${pid} outlives SIGKILL`);
  return below;
}

/** Those that still live after a while. */
export async function survivors(processes: readonly ProcessIdentity[], waitMs = 8000): Promise<readonly number[]> {
  const deadline = Date.now() + waitMs;
  while (processes.some(isSameProcess) && Date.now() < deadline) await sleep(50);
  return processes.filter(isSameProcess).map((one) => one.pid);
}

export async function until(look: () => boolean | Promise<boolean>, what: string, waitMs = 30_000): Promise<void> {
  const deadline = Date.now() + waitMs;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await sleep(10);
  }
}

export function descendants(root: ProcessIdentity): readonly ProcessIdentity[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
  const found: ProcessIdentity[] = [];
  const waiting = [root.pid];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for (const child of all.filter((one) => one.parent === parent)) {
      found.push(child);
      waiting.push(child.pid);
    }
  }
  return found;
}
