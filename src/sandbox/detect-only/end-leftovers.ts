import { killProcess } from '../process-identity.ts';
import { hasEnvironmentEntry, listProcesses } from './find-processes.ts';

/**
 * Ends what agents of a daemon that died left running: without a PID namespace nothing ends with it. Found by the mark
 * that children inherit. Gives their number.
 */
export function endMarkedProcesses(agents: readonly string[]): number {
  let ended = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const marked = (listProcesses() ?? []).filter((one) =>
      agents.some((agent) => hasEnvironmentEntry(one.pid, `ORCH_AGENT=${agent}`)),
    );
    if (marked.length === 0) break;
    for (const one of marked) killProcess(one);
    ended += marked.length;
  }
  return ended;
}

/** A process that forks while it is looked at has a child that only the next look sees. */
const ROUNDS = 20;
