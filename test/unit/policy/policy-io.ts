import type { PolicyIo } from '../../../src/cli/policy/policy-io.ts';

export interface RecordingIo extends PolicyIo {
  output(): string;
}

/** An Io that keeps what is printed; no environment but PATH and HOME of the caller's choosing. */
export function recordingIo(cwd: string, stdin: string | Buffer = ''): RecordingIo {
  let printed = '';
  return {
    stdout: (text) => {
      printed += text;
    },
    stderr: () => {},
    stdin: () => once(stdin),
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
    output: () => printed,
  };
}

async function* once(input: string | Buffer): AsyncIterable<Buffer> {
  yield Buffer.from(input as string);
}
