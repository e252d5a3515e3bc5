import type { Finding } from '../domain/checkpoint.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { ObjectId, RoleName } from '../domain/ids.ts';
import type { Run, Task } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { changedTests } from './changed-tests.ts';
import { type CommandResult, runInView } from './command.ts';
import { commit, type Engine } from './engine.ts';
import { setupWorkspace } from './setup.ts';
import { viewOf } from './view.ts';
import { waitForSlot } from './wait-for-slot.ts';

export type VerifyResult = 'passed' | 'failed' | 'invalid' | 'none';

export interface Verification {
  readonly result: VerifyResult;
  /** Command, outcome and the end of the output, for the checkpoint. */
  readonly text: string;
  readonly findings: readonly Finding[];
}

const VERIFY_TIMEOUT_MS = 30 * 60_000;
const ACCEPTANCE_TIMEOUT_MS = 10 * 60_000;
const OUTPUT_SHOWN = 3000;

/**
 * Runs the policy's verify commands on a commit in a fresh workspace, without keys and network. The environment gate
 * comes first: when the module under test does not import from that workspace the result is `invalid`, not `passed`.
 * Acceptance commands must fail on the task's base and pass on the result; otherwise a finding says so.
 */
export async function verifyResult(
  engine: Engine,
  options: { run: Run; result: ObjectId; tasks: readonly Task[] },
): Promise<Verification> {
  const acceptances = options.tasks.filter((task) => task.plan.acceptance !== undefined);
  const onBase = new Map<string, number>();
  if (acceptances.length > 0) {
    await inWorkspace(engine, options.run, options.run.manifest.baseCommit, async (execute) => {
      for (const task of acceptances) {
        onBase.set(task.id, (await execute(task.plan.acceptance ?? '', ACCEPTANCE_TIMEOUT_MS)).code);
      }
    });
  }
  return inWorkspace(engine, options.run, options.result, async (execute) => {
    const { verify } = engine.policies.active().global;
    const environment =
      verify.environment === undefined ? undefined : await execute(verify.environment, ACCEPTANCE_TIMEOUT_MS);
    if (environment !== undefined && environment.code !== 0) {
      return { result: 'invalid', text: report('environment', verify.environment ?? '', environment), findings: [] };
    }
    const findings: Finding[] = [];
    for (const task of acceptances) {
      const after = await execute(task.plan.acceptance ?? '', ACCEPTANCE_TIMEOUT_MS);
      findings.push(...acceptanceFindings(task, onBase.get(task.id) ?? 1, after));
    }
    const command = verify.full ?? verify.quick;
    if (command === undefined) return { result: 'none', text: 'no verify command in policies/global.yaml', findings };
    const outcome = await execute(command, VERIFY_TIMEOUT_MS);
    return { result: outcome.code === 0 ? 'passed' : 'failed', text: report('verify', command, outcome), findings };
  });
}

type Execute = (command: string, timeoutMs: number) => Promise<CommandResult>;

async function inWorkspace<Value>(
  engine: Engine,
  run: Run,
  at: ObjectId,
  use: (execute: Execute) => Promise<Value>,
): Promise<Value> {
  const role = 'test' as RoleName;
  const workspace: Workspace = await waitForSlot(
    engine,
    { run: run.id, task: 'T0' as Task['id'], role, attempt: 0 },
    {
      commit: at,
      tree: await engine.git.treeOf(at),
    },
  );
  try {
    const decider = await engine.policies.decider(engine.policies.active(), run.manifest.baseTree);
    const tests = await testsFor(engine, run, at);
    const view = { ...(await viewOf(engine, { role, workspace, decider })), denyDirectories: [] };
    await setupWorkspace(engine, { workspace, view, base: run.manifest.baseCommit, run: run.id });
    return await use(async (command, timeoutMs) => {
      await commit(engine.store, [
        eventWrite({ at: engine.clock.now(), type: 'verify-command', run: run.id, data: { command } }),
      ]);
      return runInView(engine, {
        view,
        command,
        timeoutMs,
        env: { WORKSPACE: view.tree, CHANGED_TESTS: tests.join(' ') },
      });
    });
  } finally {
    await workspace.release();
  }
}

async function testsFor(engine: Engine, run: Run, at: ObjectId): Promise<readonly string[]> {
  if (engine.policies.active().global.profile !== 'cpython') return [];
  const tree = await engine.git.treeOf(at);
  const changed = (await engine.git.diff(run.manifest.baseTree, tree)).map((change) => change.path);
  return changedTests(changed, new Set((await engine.git.listTree(tree)).map((entry) => entry.path)));
}

function acceptanceFindings(task: Task, codeOnBase: number, after: CommandResult): readonly Finding[] {
  const command = task.plan.acceptance ?? '';
  const findings: Finding[] = [];
  if (codeOnBase === 0) {
    findings.push({
      kind: 'acceptance',
      task: task.id,
      text: `the acceptance command passed already on the base, so it proves nothing: ${command}`,
    });
  }
  if (after.code !== 0) {
    findings.push({
      kind: 'acceptance',
      task: task.id,
      text: `the acceptance command fails on the result (${ended(after)}): ${command}`,
    });
  }
  return findings;
}

function report(what: string, command: string, outcome: CommandResult): string {
  const tail = escapeForDisplay(outcome.output.slice(-OUTPUT_SHOWN), { multiline: true });
  return `${what}: \`${command}\` ${ended(outcome)}\n${tail}`;
}

function ended(outcome: CommandResult): string {
  return outcome.timedOut ? 'was stopped by the time limit' : `ended with ${outcome.code}`;
}
