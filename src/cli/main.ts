import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { Io } from './io.ts';
import type { CommonOptions } from './program/build.ts';
import { runCli } from './program/run-cli.ts';
import { openTerminal } from './terminal.ts';

// `process` is taken as the global: its module form runs every getter, which takes 5 ms.

// `doctor` opens the ledger in this process, and node:sqlite warns on several Nodes.
const [printWarning] = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') printWarning?.(warning);
});

const interrupted = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The first one lets the verb end in order; who insists gets an end at once.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort();
  });
}
// `orchestrator runs | head`: the reader has enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const host = { stdout, stderr, columns: process.stdout.columns ?? 100, version: readVersion, openIo };
process.exitCode = await runCli(process.argv.slice(2), host);

function openIo(options: CommonOptions): Io {
  const isTerminal = isatty(0) && isatty(1);
  const uid = process.getuid?.() ?? 0;
  return {
    stdout,
    stderr,
    stdin: () => process.stdin,
    terminal: isTerminal ? openTerminal(process.stdin, process.stdout, interrupted.signal) : undefined,
    columns: isatty(1) ? process.stdout.columns : Number.POSITIVE_INFINITY,
    color: options.color && isatty(1) && !process.env['NO_COLOR'],
    json: options.json,
    quiet: options.quiet,
    env: process.env,
    cwd: resolve(options.directory ?? '.'),
    home: homedir(),
    uid,
    user: process.env['USER'] || process.env['LOGNAME'] || `uid ${uid}`,
    execPath: process.execPath,
    version: readVersion(),
    nodeVersion: process.version,
    signal: interrupted.signal,
    now: Date.now,
    isAlive,
  };
}

function stdout(text: string): void {
  process.stdout.write(text);
}

function stderr(text: string): void {
  process.stderr.write(text);
}

/** The package is two levels up from here, built or not. */
function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
