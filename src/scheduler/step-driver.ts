import type { AgentEvent, Assignment, Ending, HumanAnswer, TurnRecord } from '../agents/runner.ts';
import { readGrants } from '../checkpoints/grants.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import { agentId } from '../domain/ids.ts';
import type { Run, Step, Task } from '../domain/run.ts';
import type { Refusal } from '../gateway/gateway.ts';
import type { View } from '../sandbox/sandbox.ts';
import { eventWrite } from '../store/events.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { budgetLeft, liveScopes } from './budgets.ts';
import { commit, type Engine } from './engine.ts';
import { midTurnLook } from './mid-turn.ts';
import { promptOf } from './prompts.ts';
import { readRun, runWrite, stepWrite, taskWrite } from './records.ts';
import type { Session } from './session.ts';
import { setupWorkspace } from './setup.ts';
import { stepHost } from './step-host.ts';
import { stepPolicy } from './step-policy.ts';
import { submissionOf } from './submission-of.ts';
import { viewOf } from './view.ts';

/** How an attempt came to rest: the agent's ending, whether its processes are proved dead, and the session's state. */
export interface Sitting {
  readonly session: Session;
  readonly ending: Ending;
  readonly processes: { readonly dead: boolean; readonly evidence: string };
  /** Which budget said no, when the ending is `budget`. */
  readonly refusal: Refusal | undefined;
}

/**
 * One sitting of one attempt: from taking the workspace to the agent's last word. The caller settles what it left and
 * gives the workspace back. Throws only when a part of the daemon fails; the step is then still `running` on disk and
 * is resumed.
 */
export async function sit(
  engine: Engine,
  options: {
    run: Run;
    task: Task;
    step: Step;
    start: ObjectId;
    workspace: Workspace;
    history: History;
    signal: AbortSignal;
  },
): Promise<Sitting> {
  const { run, task, workspace } = options;
  const session = await openSession(engine, options);
  const { policy, agent } = session;
  const granted = session.grants.map((grant) => grant.path);
  const view = await viewOf(engine, { role: policy.role, workspace, decider: session.decider, granted });
  await setupWorkspace(engine, { workspace, view, base: run.manifest.baseCommit, run: run.id });
  const key = engine.gateway.issue({
    agent,
    run: run.id,
    task: task.id,
    role: policy.role,
    attempt: session.step.attempt,
    protocol: policy.model.protocol,
    model: run.manifest.models[policy.role]?.id ?? policy.model.id ?? '',
    key: engine.policies.key(policy),
    cacheReadWeight: policy.budget.cacheReadWeight,
    scopes: (day) => liveScopes(engine, { run, task: task.id, policy, day }),
  });
  try {
    const runner = engine.runners[policy.runner];
    if (runner === undefined) {
      throw new OrchestratorError(
        'configuration',
        `role ${policy.role}: runner ${policy.runner} is not built in yet; use builtin`,
      );
    }
    const assignment = await assignmentOf(session, { key, history: options.history.turns, view });
    engine.lookouts.open(options.workspace.root, midTurnLook(session));
    const sitting = await drive(session, runner.run(assignment, { signal: options.signal }));
    return { ...sitting, refusal: engine.gateway.refusal(agent) };
  } finally {
    engine.lookouts.close(options.workspace.root);
    await engine.gateway.revoke(agent);
  }
}

/** What an attempt did before: its turns and the tree after the last of them. */
export interface History {
  readonly turns: readonly TurnRecord[];
  readonly tree: ObjectId | undefined;
  readonly answers: ReadonlyMap<string, HumanAnswer>;
}

async function openSession(
  engine: Engine,
  options: { run: Run; task: Task; step: Step; start: ObjectId; workspace: Workspace; history: History },
): Promise<Session> {
  const { run, task, step } = options;
  const policies = engine.policies.pinned(run);
  const policy = stepPolicy(engine, run, { task: task.id, role: step.role });
  const now = engine.clock.now();
  const running: Step = { ...step, state: 'running', start: options.start };
  await commit(engine.store, [
    stepWrite(running),
    taskWrite({ ...task, state: 'running' }),
    // Read again: taking a workspace took time, and the row may have moved meanwhile.
    runWrite({ ...(readRun(engine.store, run.id)?.run ?? run), state: 'running' }),
    eventWrite({
      at: now,
      type: 'step-started',
      run: run.id,
      task: task.id,
      role: step.role,
      agent: agentId(step),
      data: { attempt: step.attempt, slot: options.workspace.slot, resumedTurns: options.history.turns.length },
    }),
  ]);
  const baseTree = await engine.git.treeOf(task.base ?? run.manifest.baseCommit);
  return {
    engine,
    run,
    task,
    policy,
    agent: agentId(step),
    workspace: options.workspace,
    decider: await engine.policies.decider(policies, run.manifest.baseTree),
    baseTree,
    notesTracked: await tracksNotes(engine, run.manifest.baseTree),
    grants: readGrants(engine.store, run.id).filter((grant) => grant.task === task.id),
    answers: options.history.answers,
    budgetLeft: () => budgetLeft(engine, { run, task: task.id, policy }),
    startedAt: engine.workClock.now(),
    acceptedTree: options.history.tree ?? (await engine.git.treeOf(options.start)),
    step: running,
    staged: undefined,
  };
}

async function assignmentOf(
  session: Session,
  options: { key: string; history: readonly TurnRecord[]; view: View },
): Promise<Assignment> {
  const { engine, policy, step } = session;
  return {
    agent: session.agent,
    run: session.run.id,
    task: session.task.id,
    role: policy.role,
    attempt: step.attempt,
    policy,
    submits: submissionOf(policy, session.run),
    prompt: await keptPrompt(session),
    gateway: {
      url: engine.gateway.url,
      port: engine.gateway.port,
      socketPath: engine.gateway.socketPath,
      key: options.key,
    },
    sandbox: engine.sandbox,
    view: options.view,
    activeMs: step.activeMs,
    allowances: step.allowances,
    history: options.history,
    host: stepHost(session),
  };
}

/**
 * The prompt of an attempt is made once and kept: a conversation that goes on after a crash or an approval must send
 * the very same beginning, or every cached prefix is lost and a repeated call is another call.
 */
async function keptPrompt(session: Session): Promise<Assignment['prompt']> {
  const { store } = session.engine;
  const key = `prompt ${session.agent}`;
  const kept = store.read('meta-get', { key })[0]?.['value'];
  if (typeof kept === 'string') return JSON.parse(kept) as Assignment['prompt'];
  const prompt = await promptOf(session);
  await commit(store, [{ statement: 'meta-set', params: { key, value: JSON.stringify(prompt) } }]);
  return prompt;
}

async function drive(session: Session, events: AsyncIterable<AgentEvent>): Promise<Sitting> {
  let ending: Ending = { reason: 'failed', message: 'the runner ended without saying why' };
  let processes = { dead: false, evidence: 'the runner ended without saying why' };
  for await (const event of events) {
    switch (event.type) {
      case 'ended':
        ending = event.ending;
        processes = { ...event.processes };
        break;
      case 'turn':
      case 'tool':
        session.engine.log.info({ agent: session.agent, ...event }, event.type);
        break;
    }
  }
  return { session, ending, processes, refusal: undefined };
}

async function tracksNotes(engine: Engine, baseTree: ObjectId): Promise<boolean> {
  return (await engine.git.listTree(baseTree)).some((entry) => entry.path.startsWith('agent-notes/'));
}
