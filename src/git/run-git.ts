import { execa } from 'execa';

export interface GitRun {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/**
 * Runs git and collects what it says, as bytes. Rejects when git could not be started, was ended by a signal, or says
 * more than `maxBytes`. The environment is exactly `env`.
 */
export async function runGit(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly input: Buffer | undefined;
    readonly maxBytes: number;
  },
): Promise<GitRun> {
  const { cwd, env, input, maxBytes } = options;
  const result = await execa('git', args, {
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    cwd,
    env,
    extendEnv: false,
    encoding: 'buffer',
    maxBuffer: maxBytes,
    reject: false,
    stripFinalNewline: false,
  });
  if (result.exitCode === undefined || result.isMaxBuffer) throw result;
  return { exitCode: result.exitCode, stdout: asBuffer(result.stdout), stderr: asBuffer(result.stderr) };
}

/** The same memory; nothing is copied. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
