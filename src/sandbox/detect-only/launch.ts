import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { OrchestratorError } from '../../domain/errors.ts';
import { killProcess, type ProcessIdentity, readProcess } from '../process-identity.ts';
import type { LaunchOptions, SandboxedProcess } from '../sandbox.ts';
import { spawnClean } from '../spawn-clean.ts';
import { belonging, hasEnvironmentEntry, listProcesses, suspects } from './find-processes.ts';

/** Starts a command in a session of its own and prevents nothing; `end` looks for everything that came from it. */
export function launchUnconfined(options: LaunchOptions): SandboxedProcess {
  const child = spawnClean(options.argv, { cwd: options.cwd, env: options.env, pipes: 3, detached: true });
  const [stdin, stdout, stderr] = child.stdio as unknown as [Writable, Readable, Readable];
  const pid = child.pid;
  if (pid === undefined) {
    child.once('error', () => undefined);
    throw new OrchestratorError(
      'failed',
      `${options.argv[0]} could not be started in ${options.cwd}. Check that both exist.`,
    );
  }
  stdin.on('error', () => undefined);
  const root = readProcess(pid);
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  return {
    pid,
    stdin,
    stdout,
    stderr,
    exited,
    end: async () => {
      killGroup(child, pid);
      const found = await endAll(root, markOf(options.env));
      child.kill('SIGKILL');
      await exited;
      return found;
    },
  };
}

/** Agents are started with ORCH_AGENT; children inherit it, also those that leave the process group. */
function markOf(env: Readonly<Record<string, string>>): string | undefined {
  return env['ORCH_AGENT'] === undefined ? undefined : `ORCH_AGENT=${env['ORCH_AGENT']}`;
}

function killGroup(child: ChildProcess, pid: number): void {
  // Once the leader is reaped and the group empty, its number may belong to somebody else's group.
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}

const ROUNDS = 100;

async function endAll(
  root: ProcessIdentity | undefined,
  mark: string | undefined,
): Promise<{ dead: boolean; evidence: string }> {
  if (root === undefined) {
    return {
      dead: false,
      evidence: 'process group ended; without /proc and a PID namespace nothing more can be proved',
    };
  }
  let ended = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const processes = listProcesses();
    if (processes === undefined) break;
    const own = belonging(processes, {
      root,
      isMarked: (pid) => mark !== undefined && hasEnvironmentEntry(pid, mark),
    });
    if (own.length === 0) return verdict(processes, { root, ended });
    ended += round === 0 ? own.length : 0;
    for (const one of own) killProcess(one);
    await delay(10);
  }
  return { dead: false, evidence: 'processes of the agent kept coming back while they were ended' };
}

function verdict(
  processes: readonly ProcessIdentity[],
  launch: { root: ProcessIdentity; ended: number },
): { dead: boolean; evidence: string } {
  const left = suspects(processes, { startTicks: launch.root.startTicks, daemonPid: process.pid });
  const ended = `${launch.ended} process(es) ended by group, descent and mark`;
  if (left.length === 0) return { dead: true, evidence: `${ended}; no process started since then has lost its parent` };
  const pids = left.slice(0, 10).map((one) => one.pid);
  return {
    dead: false,
    evidence: `${ended}; process(es) ${pids.join(', ')} started since then have lost their parent and may come from it`,
  };
}
