import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openToolbox } from '../../../src/agents/builtin/open-toolbox.ts';
import type { Toolbox, ToolOutcome } from '../../../src/agents/builtin/toolbox.ts';
import type { Assignment, HumanAnswer, StepHost, SubmittedPlan, SubmittedReview } from '../../../src/agents/runner.ts';
import type { Operation, Verdict } from '../../../src/domain/decision.ts';
import type { AgentId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import type { RolePolicy } from '../../../src/policy/policy.ts';
import { openSandbox } from '../../../src/sandbox/open-sandbox.ts';
import { toolchainPaths } from '../../../src/sandbox/toolchain.ts';

/** One step with the real toolbox in a real view, on an in-memory host. */
export interface Step {
  readonly root: string;
  readonly tree: string;
  readonly toolbox: Toolbox;
  readonly host: RecordingHost;
  /** Executes one call; `id` is the tool call's. */
  call(name: string, input: unknown, id?: string): Promise<ToolOutcome>;
  stop(): Promise<void>;
}

interface RecordingHost extends StepHost {
  readonly refusals: { tool: string; path: string; operation: Operation; decision: string }[];
  readonly commands: string[];
  readonly notes: { text: string; turn: number }[];
  readonly plans: SubmittedPlan[];
  readonly reviews: SubmittedReview[];
  readonly answers: Map<string, HumanAnswer>;
}

export interface StepOptions {
  readonly tools?: RolePolicy['tools'];
  readonly submits?: Assignment['submits'];
  readonly run?: Partial<RolePolicy['run']>;
  readonly mode?: 'auto' | 'detect-only';
  readonly gateway?: { readonly port: number; readonly socketPath: string };
  /** A directory that is all of PATH, brought into the view. */
  readonly programs?: string;
}

/** src/** write · never/, gen/, deny/ as named · ask/** hard, ask/**.md text · the rest out. */
function decide(_operation: Operation, file: string): Verdict {
  const origin = 'policies/roles/coder.yaml:7';
  const top = file.split('/')[0] ?? '';
  switch (top) {
    case 'src':
      return { decision: 'write', rule: 'src/**', origin };
    case 'ask':
      return { decision: 'ask', rule: 'ask/**', origin, askClass: file.endsWith('.md') ? 'text' : 'hard' };
    case 'never':
      return { decision: 'never', rule: 'never/**', origin };
    case 'gen':
      return { decision: 'generated', rule: 'gen/**', origin };
    case 'deny':
      return { decision: 'deny', rule: 'deny/**', origin };
  }
  return { decision: 'out' };
}

export async function openStep(options: StepOptions = {}): Promise<Step> {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'orch-tools-')));
  const [tree, scratch, home] = ['tree', 'scratch', 'home'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const directory of [tree, scratch, home, path.join(root, 'state')]) mkdirSync(directory);
  const sandbox = await openSandbox({
    mode: options.mode ?? 'auto',
    probeDirectory: root,
    environment: process.env,
    log: { info: () => undefined, warn: () => undefined },
  });
  const host = recordingHost();
  const assignment: Assignment = {
    agent: `r-1/T1/coder#1-${path.basename(root)}` as AgentId,
    run: 'r-1' as RunId,
    task: 'T1' as TaskId,
    role: 'coder' as RoleName,
    attempt: 1,
    policy: rolePolicy(options),
    submits: options.submits ?? 'nothing',
    prompt: { system: '', user: '' },
    gateway: {
      url: 'http://127.0.0.1:47122',
      port: 47_122,
      socketPath: path.join(root, 'state/none.sock'),
      key: 'k',
      ...options.gateway,
    },
    sandbox,
    view: {
      ...{ tree, scratch, home, denyDirectories: [], hidden: [path.join(root, 'state')] },
      readOnly: [
        ...toolchainPaths({ path: '', execPath: process.execPath, packageRoot: path.resolve('.'), home: undefined }),
        ...(options.programs === undefined ? [] : [options.programs]),
      ],
      sockets: options.gateway === undefined ? [] : [options.gateway.socketPath],
    },
    activeMs: 0,
    allowances: 0,
    history: [],
    host,
  };
  const environment = { path: options.programs ?? '/usr/local/bin:/usr/bin:/bin', lang: 'C.UTF-8' };
  const generatedSources = [{ output: 'gen/keyword.py', command: 'make regen-keyword' }];
  const toolbox = await openToolbox({ assignment, environment, generatedSources }).catch((error: unknown) => {
    rmSync(root, { recursive: true });
    throw error;
  });
  let calls = 0;
  return {
    ...{ root, tree, toolbox, host },
    call: (name, input, id) => {
      calls += 1;
      const signal = AbortSignal.timeout(30_000);
      return toolbox.execute({ id: id ?? `call-${calls}`, name, input }, { turn: 3, signal });
    },
    stop: async () => {
      await toolbox.end();
      rmSync(root, { recursive: true });
    },
  };
}

function recordingHost(): RecordingHost {
  const host: Pick<RecordingHost, 'refusals' | 'commands' | 'notes' | 'plans' | 'reviews' | 'answers'> = {
    ...{ refusals: [], commands: [], notes: [], plans: [], reviews: [], answers: new Map() },
  };
  return {
    ...host,
    decide,
    answerFor: (id) => host.answers.get(id),
    refused: async ({ tool, path: file, operation, verdict }) => {
      host.refusals.push({ tool, path: file, operation, decision: verdict.decision });
    },
    refusedCommand: async ({ command }) => {
      host.commands.push(command);
    },
    savePending: async () => undefined,
    endTurn: async () => ({ changed: false, notices: [] }),
    appendNote: async (text, turn) => {
      host.notes.push({ text, turn });
    },
    submitPlan: async (plan) => {
      host.plans.push(plan);
      return plan.tasks.some((task) => task.depends_on?.includes(99)) ? 'task 99 does not exist' : undefined;
    },
    submitReview: async (review) => {
      host.reviews.push(review);
      return undefined;
    },
    budgetLeft: () => 'unlimited',
    now: () => 0,
  };
}

function rolePolicy(options: StepOptions): RolePolicy {
  return {
    role: 'coder' as RoleName,
    aliases: [],
    runner: 'builtin',
    key: { kind: 'env', name: 'ORCH_KEY_CODER' },
    model: { protocol: 'anthropic', id: 'm', temperature: undefined, maxOutputTokens: 1000 },
    ...{ write: [], deny: [], ask: [], createOnly: [], createOnlyElse: 'ask', notDeny: [], notWrite: [] },
    tools: options.tools ?? ['read', 'search', 'edit', 'write', 'note', 'run'],
    run: { allow: ['**'], network: 'none', timeoutMs: 20_000, ...options.run },
    writeMode: 'staged',
    budget: { task: 1, run: 1, day: 1, warnAt: 0.8, cacheReadWeight: 0.1, usdTask: undefined },
    limits: { turns: 1, wallClockMs: 1, noProgressRounds: 1, identicalCalls: 1, changedLines: 1, changedFiles: 1 },
  };
}
