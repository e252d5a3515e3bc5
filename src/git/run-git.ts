import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

export interface GitRun {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/**
 * Runs git and collects what it says. Rejects when git could not be started, was ended by a signal, or says more than
 * `maxBytes`. A step makes dozens of these calls, so they go straight to node: execa takes three times the CPU.
 */
export function runGit(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly input: Buffer | undefined;
    readonly maxBytes: number;
  },
): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    const { cwd, env } = options;
    const child = spawn('git', args, { cwd, env, stdio: 'pipe' });
    const collected = collect(child, options.maxBytes, reject);
    child.once('error', reject);
    child.once('close', (exitCode, signal) => {
      if (exitCode === null) reject(new Error(`git was ended by ${signal}`));
      else resolve({ exitCode, stdout: Buffer.concat(collected.stdout), stderr: Buffer.concat(collected.stderr) });
    });
    // Git may end without reading all of it; its exit code says what that means.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input);
  });
}

function collect(child: ChildProcessWithoutNullStreams, maxBytes: number, reject: (error: Error) => void) {
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (part: Buffer) => {
      parts[name].push(part);
      bytes += part.length;
      if (bytes <= maxBytes) return;
      reject(new Error(`git said more than ${maxBytes} bytes`));
      child.kill();
    });
  }
  return parts;
}
