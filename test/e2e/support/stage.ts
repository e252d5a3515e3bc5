import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import type { Script, ScriptProtocol } from '../../../src/cli/demo/script.ts';
import { type BookRow, startScriptedModel } from '../../../src/cli/demo/scripted-model.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CheckpointRow {
  readonly id: string;
  readonly kind: string;
  readonly run: string;
  readonly task: string | null;
  readonly role: string | null;
  readonly summary: string;
  readonly paths: readonly string[];
}

export interface ShownRun {
  readonly run: string;
  readonly state: string;
  readonly reason: string | null;
  readonly target: string;
  readonly commit: string | null;
  readonly tasks: readonly {
    readonly id: string;
    readonly state: string;
    readonly steps: readonly {
      readonly role: string;
      readonly attempt: number;
      readonly state: string;
      readonly tokens: number;
    }[];
  }[];
}

/** A user's checkout with the installed package, a scripted model, and a state directory of its own. */
export interface Stage {
  readonly directory: string;
  readonly project: string;
  readonly state: string;
  readonly books: readonly BookRow[];
  /** The installed command, as a user types it. */
  cli(args: readonly string[], options?: { env?: Record<string, string>; timeoutMs?: number }): Promise<Outcome>;
  /** The same with `--json`; fails the test when the exit code is not one of `codes`. */
  json<Value>(args: readonly string[], codes?: readonly number[]): Promise<Value>;
  git(...args: string[]): Promise<string>;
  edit(file: string, change: (text: string) => string): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  readonly files: Readonly<Record<string, string>>;
  readonly script: Script;
  readonly protocol?: ScriptProtocol;
  readonly init?: readonly string[];
  /** Name of the checkout's directory. */
  readonly project?: string;
  /** An existing repository instead of `files`. */
  readonly repository?: (project: string) => Promise<void>;
  readonly start?: boolean;
}

const ROLES = ['planner', 'coder', 'test', 'reviewer'] as const;

export function keyOf(role: string): string {
  return `sk-${role}-0123456789abcdef`;
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const directory = await mkdtemp(path.join(tmpdir(), 'orch-e2e-'));
  const project = path.join(directory, options.project ?? 'project');
  const state = path.join(directory, 'state');
  await mkdir(project);
  const model = await startScriptedModel({ script: options.script });
  const bin = inject('installedBin');
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: process.env['HOME'] ?? '/root',
    LANG: 'C.UTF-8',
    ORCHESTRATOR_STATE_DIR: state,
  };
  const stage: Stage = {
    directory,
    project,
    state,
    books: model.requests,
    cli: (args, given = {}) =>
      collect(process.execPath, [bin, ...args], {
        cwd: project,
        env: { ...env, ...given.env },
        timeoutMs: given.timeoutMs ?? 120_000,
      }),
    async json<Value>(args: readonly string[], codes: readonly number[] = [0]) {
      const outcome = await stage.cli([...args, '--json']);
      if (!codes.includes(outcome.code)) {
        throw new Error(
          `orchestrator ${args.join(' ')} ended with ${outcome.code}\n${outcome.stdout}\n${outcome.stderr}`,
        );
      }
      return JSON.parse(outcome.stdout) as Value;
    },
    async git(...args) {
      const { code, stdout, stderr } = await collect('git', args, { cwd: project, env, timeoutMs: 60_000 });
      if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr}`);
      return stdout.trim();
    },
    async edit(file, change) {
      const full = path.join(project, file);
      await writeFile(full, change(await readFile(full, 'utf8')));
    },
    async close() {
      await stage.cli(['stop', '--now']);
      await model.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    await prepare(stage, options, model.url);
  } catch (error) {
    await stage.close();
    throw error;
  }
  return stage;
}

async function prepare(stage: Stage, options: StageOptions, url: string): Promise<void> {
  if (options.repository) await options.repository(stage.project);
  else await makeRepository(stage, options.files);
  await must(stage.cli(['init', '--yes', ...(options.init ?? [])]));
  const { env } = await stage.json<{ env: string }>(['path']);
  await writeFile(env, envFile(url, options.protocol ?? 'anthropic'));
  await chmod(env, 0o600);
  if (options.start !== false) await must(stage.cli(['start']));
}

async function makeRepository(stage: Stage, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(stage.project, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  await stage.git('init', '-q', '-b', 'main');
  await stage.git('config', 'user.name', 'Ada Example');
  await stage.git('config', 'user.email', 'ada@example.invalid');
  await stage.git('add', '-A');
  await stage.git('commit', '-qm', 'base');
}

function envFile(url: string, protocol: ScriptProtocol): string {
  const lines = [`ORCH_BASE_URL=${url}`];
  for (const role of ROLES) {
    const name = role.toUpperCase();
    lines.push(
      `ORCH_KEY_${name}=${keyOf(role)}`,
      `ORCH_MODEL_${name}=scripted-${role}`,
      `ORCH_PROTOCOL_${name}=${protocol}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

export async function must(pending: Promise<Outcome>): Promise<Outcome> {
  const outcome = await pending;
  if (outcome.code !== 0) throw new Error(`ended with ${outcome.code}\n${outcome.stdout}\n${outcome.stderr}`);
  return outcome;
}

/** What the user answers: arguments for `approve`/`reject`, or `undefined` to leave it open and stop there. */
export type Answerer = (
  checkpoint: CheckpointRow,
) => readonly string[] | undefined | Promise<readonly string[] | undefined>;

export const approveAll: Answerer = (checkpoint) =>
  checkpoint.kind === 'budget' ? ['approve', checkpoint.id, '--tokens', '900000'] : ['approve', checkpoint.id];

const ENDED = ['merged', 'failed', 'rejected', 'cancelled', 'budget_exhausted'];

/** Hands in a request and answers what comes up, until the run has ended or `answer` leaves a question open. */
export async function play(
  stage: Stage,
  request: string,
  options: { answer?: Answerer; args?: readonly string[]; timeoutMs?: number } = {},
): Promise<{ shown: ShownRun; asked: readonly CheckpointRow[] }> {
  const { run } = await stage.json<{ run: string }>(['run', request, ...(options.args ?? [])]);
  return follow(stage, run, options);
}

export async function follow(
  stage: Stage,
  run: string,
  options: { answer?: Answerer; timeoutMs?: number } = {},
): Promise<{ shown: ShownRun; asked: readonly CheckpointRow[] }> {
  const answer = options.answer ?? approveAll;
  const asked: CheckpointRow[] = [];
  const deadline = Date.now() + (options.timeoutMs ?? 150_000);
  while (Date.now() < deadline) {
    const pending = await stage.json<CheckpointRow[]>(['checkpoints']);
    for (const checkpoint of pending) {
      const args = await answer(checkpoint);
      asked.push(checkpoint);
      if (args === undefined) return { shown: await stage.json<ShownRun>(['show', run]), asked };
      await must(stage.cli(args));
    }
    const shown = await stage.json<ShownRun>(['show', run]);
    if (ENDED.includes(shown.state)) return { shown, asked };
    await sleep(150);
  }
  throw new Error(`run ${run} did not come to rest: ${JSON.stringify(await stage.json(['show', run]))}`);
}

function collect(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; timeoutMs: number },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}
