import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OrchestratorError } from '../../domain/errors.ts';
import type { Io } from '../io.ts';
import { DEMO_CODER_BUDGET, DEMO_PROJECT, DEMO_REQUEST } from './demo-project.ts';
import { demoScript } from './demo-script.ts';
import { coderStory } from './demo-story.ts';
import { startScriptedModel } from './scripted-model.ts';

const FIRST_LINE =
  'Demo: the model is a script served by this package on 127.0.0.1. All the rest is real: git, sandbox, gateway, budget, checkpoints, gate, unittest.';
/** More questions than the story has would be a fault: the loop is bounded. */
const QUESTIONS = 12;
const RAISED = 90_000;

/**
 * Makes a small Python project in a temporary directory and runs the whole pipeline there with this very command.
 * On a terminal the person answers; `--yes` answers and shows what it does. Gives the exit code.
 */
export async function runDemo(io: Io, options: { yes: boolean }): Promise<number> {
  if (!options.yes && io.terminal === undefined) {
    throw new OrchestratorError('usage', 'no terminal to ask on: run `orchestrator demo --yes`');
  }
  io.stdout(`${FIRST_LINE}\n`);
  const directory = await mkdtemp(path.join(tmpdir(), 'orchestrator-demo-'));
  const model = await startScriptedModel({ script: demoScript() });
  const stage = openStage(io, directory);
  try {
    await makeProject(stage);
    await must(stage.call(['init', '--yes']), 'init');
    await writeKeys(stage, model.url);
    await lowerBudget(stage);
    await must(stage.call(['start']), 'start');
    const run = await playRun(stage, options);
    io.stdout(`\n${(await coderStory(path.join(directory, 'state'), run)).join('\n')}\n`);
    const code = await stage.call(['land', run]);
    await stage.call(['violations']);
    await stage.call(['report', '--by', 'role']);
    return code;
  } finally {
    await stage.call(['stop', '--now']);
    await model.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function must(call: Promise<number>, what: string): Promise<void> {
  const code = await call;
  if (code !== 0) throw new OrchestratorError('failed', `orchestrator ${what} ended with ${code}`);
}

interface Stage {
  readonly io: Io;
  readonly project: string;
  readonly env: Record<string, string>;
  /** Runs this command with the given arguments, shown with a prompt; its exit code. */
  call(args: readonly string[]): Promise<number>;
  /** Runs it with `--json` and gives what it printed. */
  ask<Value>(args: readonly string[]): Promise<Value>;
  git(args: readonly string[]): Promise<void>;
}

async function playRun(stage: Stage, options: { yes: boolean }): Promise<string> {
  if (!options.yes) {
    await stage.call(['run', DEMO_REQUEST, '--wait']);
    return (await newestRun(stage)).id;
  }
  stage.io.stdout(`\n$ orchestrator run "${DEMO_REQUEST}"\n`);
  const { run } = await stage.ask<{ run: string }>(['run', DEMO_REQUEST]);
  for (let question = 0; question < QUESTIONS; question++) {
    const waiting = await nextQuestion(stage, run);
    if (waiting === undefined) return run;
    await stage.call(['show', waiting.id]);
    await stage.call(['approve', waiting.id, ...(waiting.kind === 'budget' ? ['--tokens', String(RAISED)] : [])]);
  }
  throw new OrchestratorError('failed', `the demo asked more than ${QUESTIONS} questions`);
}

/** Waits until the run asks or ends. */
async function nextQuestion(stage: Stage, run: string): Promise<{ id: string; kind: string } | undefined> {
  for (let waited = 0; waited < 600; waited++) {
    const pending = await stage.ask<{ id: string; kind: string }[]>(['checkpoints']);
    if (pending[0] !== undefined) return pending[0];
    const { state, reason } = await newestRun(stage, run);
    if (state === 'merged') return undefined;
    if (['failed', 'rejected', 'cancelled', 'budget_exhausted'].includes(state)) {
      throw new OrchestratorError('failed', `the demo's run ended as ${state}${reason ? `: ${reason}` : ''}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new OrchestratorError('failed', "the demo's run did not come to an end");
}

async function newestRun(stage: Stage, id?: string): Promise<{ id: string; state: string; reason?: string }> {
  if (id !== undefined) {
    const shown = await stage.ask<{ run: string; state: string; reason: string | null }>(['show', id]);
    return { id, state: shown.state, reason: shown.reason ?? '' };
  }
  const [run] = await stage.ask<{ id: string; state: string }[]>(['runs']);
  if (run === undefined) throw new OrchestratorError('failed', 'the run was not recorded');
  return run;
}

async function makeProject(stage: Stage): Promise<void> {
  for (const [name, content] of Object.entries(DEMO_PROJECT)) {
    const file = path.join(stage.project, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  await stage.git(['init', '-q', '-b', 'main']);
  await stage.git(['config', 'user.name', 'Demo User']);
  await stage.git(['config', 'user.email', 'demo@example.invalid']);
  await stage.git(['add', '-A']);
  await stage.git(['commit', '-qm', 'textkit']);
  stage.io.stdout(`A Python project was made in ${stage.project}.\n`);
}

async function writeKeys(stage: Stage, url: string): Promise<void> {
  const { env } = await stage.ask<{ env: string }>(['path']);
  const roles = ['PLANNER', 'CODER', 'TEST', 'REVIEWER'];
  const lines = [
    `ORCH_BASE_URL=${url}`,
    ...roles.map((role) => `ORCH_KEY_${role}=demo-key-of-${role.toLowerCase()}`),
    ...roles.map((role) => `ORCH_MODEL_${role}=scripted-${role.toLowerCase()}`),
  ];
  await writeFile(env, `${lines.join('\n')}\n`, { mode: 0o600 });
  stage.io.stdout(
    '\nKeys, base URL and models of the script were written to the .env that `orchestrator path env` names.\n',
  );
}

/** The shipped budget is larger than this story; a small one shows the stop. */
async function lowerBudget(stage: Stage): Promise<void> {
  const file = path.join(stage.project, 'policies', 'roles', 'coder.yaml');
  const text = await readFile(file, 'utf8');
  const edited = text
    .replace(/^(\s*budget:.*?\btask:\s*)[\w.]+/ms, `$1${DEMO_CODER_BUDGET}`)
    .replace(/^(\s*run:.*?\ballow:\s*)\[[^\]]*\]/ms, '$1["**"]');
  await writeFile(file, edited);
  stage.io.stdout(
    `policies/roles/coder.yaml: budget.task is ${DEMO_CODER_BUDGET} for this story, run.allow is everything.\n`,
  );
}

function openStage(io: Io, directory: string): Stage {
  const project = path.join(directory, 'textkit');
  const main = fileURLToPath(new URL(`../main${path.extname(import.meta.url)}`, import.meta.url));
  const env: Record<string, string> = {
    ...Object.fromEntries(
      Object.entries(io.env).filter(
        (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('ORCH'),
      ),
    ),
    ORCHESTRATOR_STATE_DIR: path.join(directory, 'state'),
  };
  const start = (args: readonly string[], stdio: 'inherit' | 'pipe') =>
    spawn(io.execPath, ['--disable-warning=ExperimentalWarning', main, '-C', project, ...args], {
      env,
      stdio: stdio === 'pipe' ? ['ignore', 'pipe', 'inherit'] : 'inherit',
    });
  return {
    io,
    project,
    env,
    call(args) {
      io.stdout(`\n$ orchestrator ${args.map(quoted).join(' ')}\n`);
      return exitOf(start(args, 'inherit'));
    },
    async ask<Value>(args: readonly string[]) {
      const child = start([...args, '--json'], 'pipe');
      const chunks: Buffer[] = [];
      child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
      const code = await exitOf(child);
      if (code !== 0) throw new OrchestratorError('failed', `orchestrator ${args.join(' ')} ended with ${code}`);
      return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Value;
    },
    async git(args) {
      const code = await exitOf(spawn('git', ['-C', project, ...args], { stdio: 'inherit' }));
      if (code !== 0) throw new OrchestratorError('failed', `git ${args.join(' ')} ended with ${code}`);
    },
  };
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

function quoted(word: string): string {
  return /^[\w./=-]+$/.test(word) ? word : JSON.stringify(word);
}
