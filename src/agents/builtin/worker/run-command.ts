import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { collectHeadAndTail } from './cut-text.ts';
import type { Answers, WorkerSettings } from './protocol.ts';

/**
 * Runs a shell command in the tree, in a process group of its own that ends with it: what it left in the background
 * would write while the result is judged. Who leaves the group is ended with the view.
 */
export async function runCommand(
  settings: WorkerSettings,
  wanted: { command: string; timeoutMs: number; cancelled: AbortSignal },
): Promise<Answers['exec']> {
  const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
  const child = spawn(shell, ['-c', wanted.command], {
    cwd: settings.tree,
    env: settings.commandEnv,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectHeadAndTail(OUTPUT_BYTES);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', output.add);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<Ended>((resolve) => {
    child.once('exit', (code, signal) => resolve({ ending: 'exited', code, signal }));
    child.once('error', (error) => {
      output.add(Buffer.from(`${error.message}\n`));
      resolve({ ending: 'exited', code: 127, signal: null });
    });
  });
  const ended = await firstOf(exited, wanted);
  killGroup(child.pid);
  // What was written before the end is still in the pipes; who left the group may hold them open for ever.
  await Promise.race([closed, delay(DRAIN_MS)]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  return { text: describe(output.text(), ended, wanted.timeoutMs), ending: ended.ending, code: ended.code };
}

const OUTPUT_BYTES = 30_000;
const DRAIN_MS = 500;

interface Ended {
  readonly ending: 'exited' | 'timeout' | 'cancelled';
  readonly code: number | null;
  readonly signal: string | null;
}

async function firstOf(exited: Promise<Ended>, wanted: { timeoutMs: number; cancelled: AbortSignal }): Promise<Ended> {
  const over = new AbortController();
  const late = delay(wanted.timeoutMs, 'timeout' as const, {
    signal: AbortSignal.any([over.signal, wanted.cancelled]),
  });
  const stopped = late.catch(() => 'cancelled' as const);
  const first = await Promise.race([exited, stopped.then((ending) => ({ ending, code: null, signal: null }))]);
  over.abort();
  return first;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

function describe(output: string, ended: Ended, timeoutMs: number): string {
  const body = output === '' || output.endsWith('\n') ? output : `${output}\n`;
  switch (ended.ending) {
    case 'exited':
      return ended.signal === null ? `${body}[exit code ${ended.code}]` : `${body}[ended by ${ended.signal}]`;
    case 'timeout':
      return `${body}[timed out after ${timeoutMs / 1000} s; the command and its processes were ended]`;
    case 'cancelled':
      return `${body}[cancelled; the command and its processes were ended]`;
  }
}
