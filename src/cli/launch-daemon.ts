import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type ErrorCode, EXIT_CODES, OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { mention } from './output/say.ts';

export interface Launch {
  readonly io: Io;
  readonly root: string;
  readonly logs: string;
  /** The daemon's entrance, .ts or .js. */
  readonly entry: string;
}

/**
 * Starts the daemon in a session of its own and resolves once it says on descriptor 3 that it is ready. Its protocol
 * there is JSON lines: any number of `{progress}`, then one of `{ready}`, `{alreadyRunning}`, `{error: {code, message, details}}`.
 */
export async function launchDetached({ io, root, logs, entry }: Launch): Promise<'ready' | 'already-running'> {
  const outputFile = join(logs, 'start.log');
  const output = await open(outputFile, 'w', 0o600);
  try {
    const child = spawn(io.execPath, daemonArguments(entry, root), {
      cwd: root,
      env: daemonEnvironment(io.env),
      detached: true,
      stdio: ['pipe', output.fd, output.fd, 'pipe'],
    });
    sendVariables(io, child);
    const outcome = await readReadiness(io, child, outputFile);
    child.unref();
    return outcome;
  } finally {
    await output.close();
  }
}

/** Runs the daemon in this terminal; the result is its exit code. An interrupt reaches it directly and it drains. */
export function launchAttached({ io, root, entry }: Launch): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(io.execPath, [...daemonArguments(entry, root), '--foreground'], {
      cwd: root,
      env: daemonEnvironment(io.env),
      stdio: ['pipe', 'inherit', 'inherit', 'ignore'],
    });
    sendVariables(io, child);
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(signal === null ? (code ?? EXIT_CODES.failed) : EXIT_CODES.interrupted),
    );
  });
}

/**
 * On Node 22 node:sqlite and type stripping warn at every start. A young generation of node's size would only hold
 * garbage: what a step makes is short-lived, and the daemon stays for days.
 */
function daemonArguments(entry: string, root: string): string[] {
  const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=4'];
  return [...flags, entry, '--repository', root, '--variables-on-stdin'];
}

/** Keys go to the daemon through a pipe: an environment can be read for life by every process of the same user. */
function sendVariables(io: Io, child: ChildProcess): void {
  const variables = Object.entries(io.env).filter(([name]) => name.startsWith(VARIABLE_PREFIX));
  // A daemon that ended before it read them has said why on descriptor 3.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(JSON.stringify(Object.fromEntries(variables)));
}

/**
 * The daemon's agents have keys, headers and connections of their own: what the vendors' clients or Node would take from
 * the environment (ANTHROPIC_CUSTOM_HEADERS, say) must not reach them.
 */
function daemonEnvironment(environment: Io['env']): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !FOREIGN.test(name));
  // glibc keeps an arena of memory for every thread otherwise, which is a tenth of the daemon.
  return { MALLOC_ARENA_MAX: '2', ...Object.fromEntries(kept) };
}

const FOREIGN = /^(ORCH_|ANTHROPIC_|OPENAI_|NODE_USE_ENV_PROXY$)/;

const VARIABLE_PREFIX = 'ORCH_';

/** Without a sign of life for this long the start has failed. */
const SILENCE_MS = 120_000;

async function readReadiness(io: Io, child: ChildProcess, outputFile: string): Promise<'ready' | 'already-running'> {
  const pipe = child.stdio[3] as Readable;
  const failure = new Promise<never>((_, reject) => child.once('error', reject));
  const stop = () => child.kill('SIGTERM');
  io.signal.addEventListener('abort', stop, { once: true });
  let timer = setTimeout(stop, SILENCE_MS);
  try {
    const lines = (async () => {
      for await (const line of linesOf(pipe)) {
        clearTimeout(timer);
        timer = setTimeout(stop, SILENCE_MS);
        const outcome = readRecord(io, line);
        if (outcome !== undefined) return outcome;
      }
      return undefined;
    })();
    const outcome = await Promise.race([lines, failure]);
    if (outcome !== undefined) return outcome;
    if (io.signal.aborted) throw new OrchestratorError('interrupted', 'interrupted before the daemon was ready');
    throw new OrchestratorError('failed', 'the daemon ended before it was ready', {
      details: await lastLines(outputFile),
    });
  } finally {
    clearTimeout(timer);
    io.signal.removeEventListener('abort', stop);
    pipe.destroy();
  }
}

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let held = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = `${held}${chunk}`.split('\n');
    held = lines.pop() ?? '';
    yield* lines;
  }
}

function readRecord(io: Io, line: string): 'ready' | 'already-running' | undefined {
  const record = JSON.parse(line) as Readonly<Record<string, unknown>>;
  if ('ready' in record) return 'ready';
  if ('alreadyRunning' in record) return 'already-running';
  if ('progress' in record) mention(io, String(record['progress']));
  if (!('error' in record)) return undefined;
  const error = record['error'] as { code: ErrorCode; message: string; details?: readonly string[] };
  throw new OrchestratorError(error.code, error.message, { details: error.details ?? [] });
}

async function lastLines(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-10);
}
