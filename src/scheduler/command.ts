import { placesOf, type View } from '../sandbox/sandbox.ts';
import type { Engine } from './engine.ts';

const OUTPUT_BYTES = 64 * 1024;

export interface CommandResult {
  /** Exit code; -1 when it was killed by the time limit or a signal. */
  readonly code: number;
  /** The end of stdout and stderr, interleaved as they came, at most 64 KiB. */
  readonly output: string;
  readonly timedOut: boolean;
}

/** Runs a shell command of the policy (setup, verify, acceptance) in a view without keys and without network. */
export async function runInView(
  engine: Engine,
  options: { view: View; command: string; timeoutMs: number; env: Readonly<Record<string, string>> },
): Promise<CommandResult> {
  const { view } = options;
  const child = engine.sandbox.launch(view, {
    argv: ['/bin/sh', '-c', options.command],
    cwd: view.tree,
    env: { ...engine.commandEnvironment, ...placesOf(view), ...options.env },
    network: 'none',
  });
  child.stdin.end();
  let output = Buffer.alloc(0);
  const collect = (chunk: Buffer): void => {
    output = Buffer.concat([output, chunk]);
    if (output.length > OUTPUT_BYTES) output = output.subarray(output.length - OUTPUT_BYTES);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void child.end();
  }, options.timeoutMs);
  try {
    const { code } = await child.exited;
    return { code: timedOut ? -1 : (code ?? -1), output: output.toString('utf8'), timedOut };
  } finally {
    clearTimeout(timer);
    await child.end();
  }
}
