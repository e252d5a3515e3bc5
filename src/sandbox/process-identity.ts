import { readFileSync } from 'node:fs';

/** A process as the kernel tells it apart from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Clock ticks since boot; together with the pid it names one process. */
  readonly startTicks: number;
}

/** The running process with this number, or undefined when there is none or it is a zombie (it can't act any more). */
export function readProcess(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name is in parentheses and may hold spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { pid, parent: Number(fields[1]), group: Number(fields[2]), startTicks: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

export function isSameProcess(known: ProcessIdentity): boolean {
  return readProcess(known.pid)?.startTicks === known.startTicks;
}

/** Sends SIGKILL unless the number belongs to another process by now. */
export function killProcess(known: ProcessIdentity): void {
  if (!isSameProcess(known)) return;
  try {
    process.kill(known.pid, 'SIGKILL');
  } catch {
    // It ended between the look and the signal.
  }
}
