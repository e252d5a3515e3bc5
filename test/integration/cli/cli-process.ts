import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Backend } from '../../../src/api/backend.ts';
import { startApiServer } from '../../../src/api/server.ts';
import { fakeBackend } from '../api/fake-backend.ts';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary directory with a git repository `repo`, a state directory `state` and a HOME of its own. */
export interface Place {
  readonly directory: string;
  readonly repository: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  cli(
    args: readonly string[],
    options?: { cwd?: string; env?: Record<string, string>; input?: string },
  ): Promise<Finished>;
  start(args: readonly string[]): ReturnType<typeof spawn>;
  git(...args: string[]): string;
  serve(overrides?: Partial<Backend>): Promise<ReturnType<typeof fakeBackend>>;
  remove(): Promise<void>;
}

export function makePlace(files: Readonly<Record<string, string>> = { 'README.md': '# x\n' }): Place {
  const directory = mkdtempSync(join(tmpdir(), 'orch-cli-'));
  const repository = join(directory, 'repo');
  const state = join(directory, 'state');
  const home = join(directory, 'home');
  for (const path of [repository, state, home]) mkdirSync(path, { mode: 0o700 });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    USER: 'tester',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    ORCHESTRATOR_STATE_DIR: state,
  };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, env, encoding: 'utf8' });
  writeFileSync(env.GIT_CONFIG_GLOBAL, '[user]\n\tname = Test Person\n\temail = person@example.org\n');
  git('init', '-q', '-b', 'main');
  writeFiles(repository, files);
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  const stops: (() => Promise<void>)[] = [];
  return {
    directory,
    repository,
    state,
    env,
    git,
    cli: (args, options = {}) => runCli(args, { cwd: repository, ...options, env: { ...env, ...options.env } }),
    start: (args) =>
      spawn(process.execPath, [MAIN, ...args], { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] }),
    async serve(overrides = {}) {
      const backend = fakeBackend(overrides);
      const server = await startApiServer({ socketPath: join(state, 'daemon.sock'), backend, log: () => undefined });
      stops.push(() => server.stop());
      return backend;
    },
    async remove() {
      for (const stop of stops) await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function runCli(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; input?: string },
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { cwd: options.cwd, env: options.env, timeout: 30_000, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    child.stdin?.end(options.input ?? '');
  });
}
