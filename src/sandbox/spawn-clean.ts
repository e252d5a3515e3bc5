import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Starts a process that gets nothing of ours but `pipes` descriptors, from 0 on. Node passes on what the daemon itself
 * inherited from whoever started it (but for the first 16); an open directory among them is a way out of any view.
 */
export function spawnClean(
  argv: readonly [string, ...string[]],
  options: { cwd: string; env: Readonly<Record<string, string>>; pipes: number; detached?: boolean },
): ChildProcess {
  const [command, ...args] = argv;
  const nothing = openSync('/dev/null', 'r+');
  try {
    const stdio: ('pipe' | 'ignore' | number)[] = Array.from({ length: options.pipes }, () => 'pipe');
    for (const descriptor of inheritable()) {
      // `ignore` leaves a descriptor above 2 as it is; only another one in its place covers it.
      while (stdio.length < descriptor) stdio.push('ignore');
      if (descriptor >= options.pipes) stdio[descriptor] = nothing;
    }
    const { cwd, env, detached = false } = options;
    return spawn(command, args, { cwd, env, detached, stdio });
  } finally {
    closeSync(nothing);
  }
}

/** Descriptors that would survive an exec; what node opens itself does not. Empty where there is no /proc. */
function inheritable(): number[] {
  let names: string[];
  try {
    names = readdirSync('/proc/self/fdinfo');
  } catch {
    return [];
  }
  const kept = names.map(Number).filter((descriptor) => descriptor > 2 && !closesOnExec(descriptor));
  return kept.sort((left, right) => left - right);
}

const CLOSE_ON_EXEC = 0o2000000;

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    // The descriptor of the listing itself, closed by now.
    return true;
  }
}
