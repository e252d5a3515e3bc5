import { randomInt } from 'node:crypto';
import { closeSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { startApiServer } from './api/server.ts';
import { doctorOf } from './daemon-doctor.ts';
import { buildEngine } from './daemon-engine.ts';
import { type DaemonLogFile, openLog } from './daemon-log.ts';
import { messageOf, OrchestratorError } from './domain/errors.ts';
import type { RandomText } from './domain/ids.ts';
import { findRepository } from './git/find-repository.ts';
import { chooseVariables } from './policy/choose-variables.ts';
import { parseEnvFile } from './policy/env-file.ts';
import { sharedKeyNote } from './policy/start-check.ts';
import { readReport } from './report/read-report.ts';
import { createBackend } from './scheduler/backend.ts';
import { startDispatcher } from './scheduler/dispatcher.ts';
import { recoverRuns } from './scheduler/recovery.ts';
import { acquireDaemonLock } from './store/sqlite/lock.ts';
import { resolveStateDirectory, type StateDirectory } from './store/state-directory.ts';

// First statement: with a listener of our own SIGUSR1 does not open Node's inspector (keys could be read through it).
process.on('SIGUSR1', () => undefined);
process.umask(0o077);

const READY_FD = 3;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const randomText: RandomText = (length) => Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
  const foreground = argv.includes('--foreground');
  const repository = argv[argv.indexOf('--repository') + 1] ?? process.cwd();
  let log: DaemonLogFile | undefined;
  try {
    const found = await findRepository(repository, { environment: process.env });
    if (found === undefined)
      throw new OrchestratorError('configuration', `${repository} is not inside a git work tree`);
    const paths = resolveStateDirectory({
      environment: process.env,
      homeDirectory: homedir(),
      repositoryRoot: found.root,
      commonDirectory: found.commonDirectory,
      create: true,
    });
    const lock = await acquireDaemonLock(paths.lock);
    if ('heldBy' in lock) {
      tell({ alreadyRunning: { pid: lock.heldBy.pid ?? null } });
      process.exit(0);
    }
    const variables = openVariables(paths, await fallbackVariables());
    log = openLog({ directory: paths.logs, secrets: () => secretsOf(variables.read()), echo: foreground });
    await serve({ repository: found.root, paths, variables, log, lock });
  } catch (error) {
    log?.error({ error: messageOf(error) }, 'the daemon could not start');
    log?.flush();
    const known =
      error instanceof OrchestratorError ? error : new OrchestratorError('failed', messageOf(error), { cause: error });
    tell({ error: { code: known.code, message: known.message, details: known.details } });
    if (foreground)
      process.stderr.write(`orchestrator: ${known.message}\n${known.details.map((line) => `  ${line}\n`).join('')}`);
    process.exit(1);
  }
}

interface Variables {
  read(): ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

async function serve(parts: {
  repository: string;
  paths: StateDirectory;
  variables: Variables;
  log: DaemonLogFile;
  lock: { release(): void };
}): Promise<void> {
  const { repository, paths, variables, log } = parts;
  const version = packageVersion();
  const built = await buildEngine({
    repository,
    paths,
    log,
    version,
    readVariables: variables.read,
    environment: process.env,
    homeDirectory: homedir(),
    execPath: process.execPath,
    nodeVersion: process.version,
    packageRoot: fileURLToPath(new URL('../', import.meta.url)),
    clock: { now: Date.now },
    random: randomText,
    progress: (text) => tell({ progress: text }),
  });
  const { engine } = built;
  const dispatcher = startDispatcher(engine);
  built.connect(dispatcher);
  const approved = await recoverRuns(engine);
  let stopping: Promise<void> | undefined;
  const stop = (options: { now: boolean }): Promise<void> => {
    // Who waits for a drain and asks again with `--now` means it.
    if (stopping !== undefined && options.now) void dispatcher.stop(options);
    stopping ??= shutDown(options);
    return stopping;
  };
  const sharedKey = sharedKeyNote(engine.policies.active(), variables.read());
  const notes = sharedKey === undefined ? [] : [sharedKey];
  const facts = {
    pid: process.pid,
    version,
    since: Date.now(),
    socket: paths.socket,
    warnings: [...variables.warnings, ...built.warnings, ...notes],
  };
  const backend = createBackend(engine, dispatcher, {
    ...facts,
    stop,
    report: async (request) => {
      const report = readReport(engine.store, request);
      return { ...report, notes: [...report.notes, ...notes] };
    },
    doctor: doctorOf(engine, {
      preflight: built.preflight,
      readVariables: variables.read,
      environment: process.env,
      repository,
    }),
  });
  rmSync(paths.socket, { force: true });
  const api = await startApiServer({ socketPath: paths.socket, backend, log: (message) => log.warn({}, message) });
  const info = {
    pid: facts.pid,
    since: facts.since,
    gatewayUrl: engine.gateway.url,
    version,
    socket: paths.socket,
    repository,
  };
  writeFileSync(paths.daemonJson, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 });
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => void stop({ now: true }));
  log.info(info, 'ready');
  tell({
    ready: {
      ...info,
      sandbox: engine.sandbox.probe.mode,
      evidence: engine.sandbox.probe.evidence,
      warnings: facts.warnings,
      watcher: engine.watcher.mode,
      watching: [repository],
    },
  });
  closeReady();
  for (const checkpoint of approved) void dispatcher.merge(checkpoint);
  dispatcher.wake();

  async function shutDown(options: { now: boolean }): Promise<void> {
    log.info(options, 'stopping');
    await dispatcher.stop(options);
    // The answer to `stop` must get out before its socket goes.
    setTimeout(() => void end(), 50);
  }

  async function end(): Promise<void> {
    await api.stop();
    await built.stop();
    rmSync(paths.daemonJson, { force: true });
    rmSync(paths.socket, { force: true });
    log.info({}, 'stopped');
    log.flush();
    parts.lock.release();
    process.exit(0);
  }
}

/** `.env` wins over what the launcher handed over from its environment. Read again at every `policy reload`. */
function openVariables(paths: StateDirectory, fallback: ReadonlyMap<string, string>): Variables {
  const warnings: string[] = [];
  const read = (): ReadonlyMap<string, string> => {
    const found = statSync(paths.env, { throwIfNoEntry: false });
    const text = found === undefined ? '' : readFileSync(paths.env, 'utf8');
    const parsed = parseEnvFile(text, paths.env);
    if (parsed.problems.length > 0) {
      throw new OrchestratorError('configuration', `${paths.env} has ${parsed.problems.length} problems`, {
        details: parsed.problems.map((problem) => `${problem.file}:${problem.line}: ${problem.message}`),
      });
    }
    const { values, fromFallback } = chooseVariables(parsed, fallback);
    warnings.splice(
      0,
      warnings.length,
      ...parsed.warnings.map((warning) => `${warning.file}:${warning.line}: ${warning.message}`),
    );
    if (found !== undefined && (found.mode & 0o077) !== 0)
      warnings.push(`${paths.env} holds keys and others may read it: chmod 600 it`);
    if (fromFallback.length > 0)
      warnings.push(`taken from the environment, since .env does not have them: ${fromFallback.join(', ')}`);
    return values;
  };
  return { read, warnings };
}

/** The launcher sends ORCH_* variables as JSON on standard input, so that no key is in this process's environment. */
async function fallbackVariables(): Promise<ReadonlyMap<string, string>> {
  if (!process.argv.includes('--variables-on-stdin')) return new Map();
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8').trim();
  return text === '' ? new Map() : new Map(Object.entries(JSON.parse(text) as Record<string, string>));
}

function secretsOf(variables: ReadonlyMap<string, string>): readonly string[] {
  return [...variables].filter(([name]) => name.includes('KEY')).map(([, value]) => value);
}

/** One JSON line for the launcher; it may be gone or never have been there. */
function tell(line: Record<string, unknown>): void {
  try {
    writeSync(READY_FD, `${JSON.stringify(line)}\n`);
  } catch {
    // Started by hand without a reader on fd 3.
  }
}

function closeReady(): void {
  try {
    closeSync(READY_FD);
  } catch {
    // See tell.
  }
}

function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
