import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Side, timed } from './measure.ts';

const run = promisify(execFile);

export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The environment of a user who is set up, with a state directory of this benchmark's own. */
export function userEnvironment(state: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: process.env['HOME'] ?? '/root',
    LANG: 'C.UTF-8',
    ORCHESTRATOR_STATE_DIR: state,
  };
}

export async function command(place: Place, file: string, args: readonly string[]): Promise<string> {
  const options = { cwd: place.cwd, env: { ...place.env }, maxBuffer: 256 * 1024 * 1024, timeout: 300_000 };
  return (await run(file, [...args], options)).stdout;
}

export function gitStatus(place: Place): Side {
  return {
    what: 'git status',
    unit: 'ms',
    once: () => timed(() => command(place, 'git', ['status', '--porcelain=v2', '-z'])),
  };
}
