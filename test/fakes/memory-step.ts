import type { Toolbox, ToolDefinition, ToolOutcome } from '../../src/agents/builtin/toolbox.ts';
import type {
  AgentEvent,
  Assignment,
  Ending,
  HumanAnswer,
  Runner,
  StepHost,
  TurnEffects,
  TurnRecord,
} from '../../src/agents/runner.ts';
import type { AgentId, RoleName, RunId, TaskId } from '../../src/domain/ids.ts';
import type { Protocol, RolePolicy } from '../../src/policy/policy.ts';
import type { Sandbox, View } from '../../src/sandbox/sandbox.ts';

export type ToolHandler = (
  input: Readonly<Record<string, unknown>>,
  call: { id: string; signal: AbortSignal },
) => ToolOutcome | Promise<ToolOutcome>;

export interface MemoryToolbox extends Toolbox {
  /** Names of the executed calls, in order. */
  readonly executed: readonly { readonly name: string; readonly input: unknown }[];
  ended(): boolean;
}

/** A toolbox whose tools are functions of the test; `finish` is always there. */
export function memoryToolbox(handlers: Readonly<Record<string, ToolHandler>> = {}): MemoryToolbox {
  const executed: { name: string; input: unknown }[] = [];
  let hasEnded = false;
  const all: Readonly<Record<string, ToolHandler>> = {
    finish: (input) => ({ kind: 'finish', summary: String(input['summary']) }),
    ...handlers,
  };
  return {
    definitions: Object.keys(all).map(definition),
    executed,
    ended: () => hasEnded,
    execute: async (call, { signal }) => {
      executed.push({ name: call.name, input: call.input });
      const handler = all[call.name];
      if (handler === undefined) return { kind: 'result', text: `There is no tool ${call.name}`, isError: true };
      return handler(call.input as Record<string, unknown>, { id: call.id, signal });
    },
    end: async () => {
      hasEnded = true;
      return { dead: true, evidence: 'in memory' };
    },
  };
}

export function said(text: string, isError = false): ToolOutcome {
  return { kind: 'result', text, isError };
}

export interface MemoryHost extends StepHost {
  /** Turns as they were ended, with the effects' notices appended, as the daemon persists them. */
  readonly turns: readonly TurnRecord[];
  readonly pending: readonly TurnRecord[];
}

/** The daemon's side of a step, kept in memory. */
export function memoryHost(
  options: { effects?: (turn: TurnRecord) => TurnEffects; answers?: Readonly<Record<string, HumanAnswer>> } = {},
): MemoryHost {
  const turns: TurnRecord[] = [];
  const pending: TurnRecord[] = [];
  return {
    turns,
    pending,
    decide: () => ({ decision: 'write' }),
    answerFor: (id) => options.answers?.[id],
    refused: async () => {},
    refusedCommand: async () => {},
    savePending: async (turn) => {
      pending.push(structuredClone(turn));
    },
    endTurn: async (turn) => {
      const effects = options.effects?.(turn) ?? { changed: false, notices: [] };
      const notices = [...turn.notices, ...effects.notices];
      turns.push(structuredClone({ ...turn, notices, progress: turn.progress || effects.changed }));
      return effects;
    },
    appendNote: async () => {},
    submitPlan: async () => undefined,
    submitReview: async () => undefined,
    budgetLeft: () => 'unlimited',
    now: () => 0,
  };
}

export function rolePolicy(
  overrides: { protocol?: Protocol; limits?: Partial<RolePolicy['limits']>; model?: Partial<RolePolicy['model']> } = {},
): RolePolicy {
  return {
    role: 'coder' as RoleName,
    aliases: [],
    runner: 'builtin',
    key: { kind: 'env', name: 'ORCH_KEY_CODER' },
    model: {
      protocol: overrides.protocol ?? 'anthropic',
      id: 'model-coder',
      temperature: 0.2,
      maxOutputTokens: 4096,
      ...overrides.model,
    },
    write: [],
    deny: [],
    ask: [],
    createOnly: [],
    createOnlyElse: 'ask',
    notDeny: [],
    notWrite: [],
    tools: ['read', 'search', 'edit', 'write', 'note', 'run'],
    run: { allow: ['git status'], network: 'none', timeoutMs: 60_000 },
    writeMode: 'staged',
    budget: {
      task: 200_000,
      run: 'unlimited',
      day: 'unlimited',
      warnAt: 0.8,
      cacheReadWeight: 0.1,
      usdTask: undefined,
    },
    limits: {
      turns: 12,
      wallClockMs: 600_000,
      noProgressRounds: 3,
      identicalCalls: 5,
      changedLines: 400,
      changedFiles: 15,
      ...overrides.limits,
    },
  };
}

export function assignment(
  parts: Partial<Assignment> & { readonly url: string; readonly protocol?: Protocol },
): Assignment {
  const { url, protocol, ...overrides } = parts;
  return {
    agent: 'r-1/T1/coder#1' as AgentId,
    run: 'r-1' as RunId,
    task: 'T1' as TaskId,
    role: 'coder' as RoleName,
    attempt: 1,
    policy: rolePolicy(protocol === undefined ? {} : { protocol }),
    submits: 'nothing',
    prompt: { system: 'Role: coder\nYou change code.', user: 'Task: T1\n\nDo it.' },
    gateway: { url, port: Number(new URL(url).port), socketPath: '', key: 'key-coder' },
    sandbox: NO_SANDBOX,
    view: NO_VIEW,
    activeMs: 0,
    allowances: 0,
    history: [],
    host: memoryHost(),
    ...overrides,
  };
}

export interface Ran {
  readonly events: readonly AgentEvent[];
  readonly ending: Ending;
}

/** Runs a step to its end; more events than any test needs is a runaway loop. */
export async function runStep(runner: Runner, step: Assignment, signal = new AbortController().signal): Promise<Ran> {
  const events: AgentEvent[] = [];
  for await (const event of runner.run(step, { signal })) {
    events.push(event);
    if (events.length > 500) throw new Error('the step did not end within 500 events');
  }
  const last = events.at(-1);
  if (last?.type !== 'ended') throw new Error(`the last event is ${last?.type}, not ended`);
  return { events, ending: last.ending };
}

const NO_SANDBOX: Sandbox = {
  probe: { mode: 'detect-only', proved: false, evidence: [] },
  launch: () => {
    throw new Error('nothing is launched in memory');
  },
  endLeftovers: () => 0,
};
const NO_VIEW: View = {
  tree: '/nowhere',
  scratch: '/nowhere',
  home: '/nowhere',
  readOnly: [],
  denyDirectories: [],
  hidden: [],
  sockets: [],
};

function definition(name: string): ToolDefinition {
  return { name, description: `The tool ${name}.`, inputSchema: { type: 'object', properties: {} } };
}
