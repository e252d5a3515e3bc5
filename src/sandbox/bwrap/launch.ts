import type { ChildProcess } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { OrchestratorError } from '../../domain/errors.ts';
import { isSameProcess, killProcess, type ProcessIdentity, readProcess } from '../process-identity.ts';
import type { LaunchOptions, SandboxedProcess, View } from '../sandbox.ts';
import { spawnClean } from '../spawn-clean.ts';
import { compileView } from './compile.ts';
import { guardedProc, type HostDirectories, inspectView } from './inspect.ts';

/**
 * Starts a command in a view. The arguments go through a pipe: they would not fit on a command line with many
 * binds, and nobody reads the environment out of /proc/<pid>/cmdline.
 */
export function launchInBwrap(
  bwrap: string,
  host: HostDirectories,
  request: { view: View; options: LaunchOptions },
): SandboxedProcess {
  const { options } = request;
  const args = compileView({
    placements: inspectView(request.view, host),
    guardedProc: guardedProc(),
    cwd: options.cwd,
    env: options.env,
    network: options.network,
  });
  const child = spawnClean([bwrap, '--args', '4', '--json-status-fd', '3', '--', ...options.argv], {
    cwd: '/',
    env: {},
    pipes: 5,
  });
  const pid = child.pid;
  if (pid === undefined) {
    child.once('error', () => undefined);
    throw new OrchestratorError('failed', `${bwrap} could not be started. Nothing was run.`);
  }
  return supervise(child, pid, args);
}

const END_TIMEOUT_MS = 10_000;

function supervise(child: ChildProcess, pid: number, args: readonly string[]): SandboxedProcess {
  const [stdin, stdout, stderr, status, argsPipe] = child.stdio as [Writable, Readable, Readable, Readable, Writable];
  // A command that is gone answers later writes with EPIPE; `exited` already says so.
  for (const stream of [stdin, argsPipe]) stream.on('error', () => undefined);
  argsPipe.end(args.map((argument) => `${argument}\0`).join(''));

  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let ending: 'by-request' | 'by-itself' = 'by-itself';
  const report = readStatus(status);
  const errors = new PassThrough();
  stderr.pipe(errors, { end: false });
  child.once('close', async (code) => {
    const ran = (await report.whole).includes('"exit-code"');
    if (!ran && ending === 'by-itself' && code !== null && code !== 0) errors.write(SETUP_FAILED);
    errors.end();
  });

  return {
    pid,
    stdin,
    stdout,
    stderr: errors,
    exited,
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) ending = 'by-request';
      return endNamespace({ child, exited, init: await report.init });
    },
  };
}

const SETUP_FAILED =
  'orchestrator: the sandbox could not be set up or the command could not be started in it (reason above); nothing was run outside of it.\n';

/**
 * What bwrap reports about itself: the first process of the PID namespace (undefined when there was none or it has
 * ended), and an exit code once the command has run.
 */
function readStatus(status: Readable): { init: Promise<ProcessIdentity | undefined>; whole: Promise<string> } {
  const init = Promise.withResolvers<ProcessIdentity | undefined>();
  const whole = Promise.withResolvers<string>();
  let seen = '';
  status.on('data', (chunk: Buffer) => {
    seen += chunk.toString('latin1');
    const found = /"child-pid": (\d+)/.exec(seen);
    if (found !== null) init.resolve(readProcess(Number(found[1])));
  });
  status.on('error', () => undefined);
  status.once('close', () => {
    init.resolve(undefined);
    whole.resolve(seen);
  });
  return { init: init.promise, whole: whole.promise };
}

/** The kernel ends every process of a PID namespace with its first one, before that one counts as ended. */
async function endNamespace(run: {
  child: ChildProcess;
  exited: Promise<unknown>;
  init: ProcessIdentity | undefined;
}): Promise<{ dead: boolean; evidence: string }> {
  const { child, exited, init } = run;
  if (init === undefined) {
    child.kill('SIGKILL');
    await exited;
    return { dead: true, evidence: 'the PID namespace ended before or while it was looked at' };
  }
  killProcess(init);
  const deadline = Date.now() + END_TIMEOUT_MS;
  while (isSameProcess(init) && Date.now() < deadline) await delay(5);
  if (isSameProcess(init)) {
    child.kill('SIGKILL');
    return { dead: false, evidence: `process ${init.pid} (first of its PID namespace) did not end within 10 s` };
  }
  await exited;
  return { dead: true, evidence: `PID namespace of process ${init.pid} ended with its first process` };
}
