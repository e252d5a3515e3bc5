import { spawn } from 'node:child_process';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** More output than this ends the program. */
  readonly maxBytes: number;
}

/** Runs a program of the view to its end; undefined when there is no such program. Its exit code is a result. */
export function runProgram(
  program: Program,
): Promise<{ code: number | null; output: Buffer; errors: string } | undefined> {
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env: program.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: program.timeoutMs,
    killSignal: 'SIGKILL',
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= program.maxBytes) chunks.push(chunk);
    else child.kill('SIGKILL');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (errors.length < 4000) errors += chunk.toString('utf8');
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? resolve(undefined) : reject(error),
    );
    child.once('close', (code) => resolve({ code, output: Buffer.concat(chunks), errors }));
  });
}
