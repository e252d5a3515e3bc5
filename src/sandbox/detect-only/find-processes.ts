import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessIdentity, readProcess } from '../process-identity.ts';

/** Every running process, or undefined where there is no /proc to ask. */
export function listProcesses(): ProcessIdentity[] | undefined {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return undefined;
  }
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.flatMap((pid) => readProcess(pid) ?? []);
}

/** Whether a process was started with this entry in its environment; false when it may not be asked. */
export function hasEnvironmentEntry(pid: number, entry: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry);
  } catch {
    return false;
  }
}

/** The launched process's own: its group, its descendants as they hang together now, and whoever carries the mark. */
export function belonging(
  processes: readonly ProcessIdentity[],
  launch: { root: ProcessIdentity; isMarked: (pid: number) => boolean },
): ProcessIdentity[] {
  // Nobody who was there before can belong to it, whatever a reused number or an inherited mark says.
  const later = processes.filter((one) => one.startTicks >= launch.root.startTicks);
  const own = new Set<number>([launch.root.pid]);
  for (const one of later) if (one.group === launch.root.pid || launch.isMarked(one.pid)) own.add(one.pid);
  for (let before = 0; before !== own.size; ) {
    before = own.size;
    for (const one of later) if (own.has(one.parent)) own.add(one.pid);
  }
  return later.filter((one) => own.has(one.pid));
}

/**
 * Processes that could be escaped ones: a process whose parents have died is handed to an ancestor of the daemon,
 * so only what was started since then and hangs there can be.
 */
export function suspects(
  processes: readonly ProcessIdentity[],
  since: { startTicks: number; daemonPid: number },
): ProcessIdentity[] {
  const byPid = new Map(processes.map((one) => [one.pid, one]));
  const ancestors = new Set<number>([1]);
  for (let pid = byPid.get(since.daemonPid)?.parent; pid !== undefined && pid > 0 && !ancestors.has(pid); ) {
    ancestors.add(pid);
    pid = byPid.get(pid)?.parent;
  }
  return processes.filter((one) => one.startTicks >= since.startTicks && ancestors.has(one.parent) && one.pid !== 1);
}
