import { bindingChanges } from '../checkpoints/binding.ts';
import type { NewCheckpoint } from '../checkpoints/checkpoints.ts';
import type { Checkpoint, Finding } from '../domain/checkpoint.ts';
import { escapeForDisplay, quoteLines } from '../domain/escape.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { Task } from '../domain/run.ts';
import type { GateVerdict, MergeCandidate } from '../gate/gate.ts';
import { bindingOf } from './binding.ts';
import { budgetState, scopesOf } from './budgets.ts';
import { stepCommits } from './candidate.ts';
import type { Engine } from './engine.ts';
import type { RunRecord } from './records.ts';
import { noteLines, reviewLines } from './said.ts';
import type { Verification } from './verify.ts';

type Accepted = Extract<GateVerdict, { accepted: true }>;

interface MergeFacts {
  readonly candidate: MergeCandidate;
  readonly verdict: Accepted;
  readonly verification: Verification;
  readonly ready: readonly Task[];
  readonly replaces: Checkpoint | undefined;
}

/** The merge checkpoint: diff by task and role, verify result, budget, findings, and what is left out and why. */
export async function mergeQuestion(engine: Engine, record: RunRecord, facts: MergeFacts): Promise<NewCheckpoint> {
  const { run } = record;
  const { candidate, verification, verdict } = facts;
  const tree = await engine.git.treeOf(candidate.result);
  const from = await engine.git.treeOf(
    /^0+$/.test(candidate.targetCommit) ? candidate.baseCommit : candidate.targetCommit,
  );
  const binding = await bindingOf(engine, run, {
    action: 'merge',
    content: tree,
    paths: verdict.paths.map((path) => path.path),
  });
  const leftOut = record.tasks.filter((task) => task.id !== 'T0' && !facts.ready.includes(task));
  const remarks = record.steps.flatMap((step) => step.remarks);
  const findings = [...verifyFindings(verification), ...verification.findings, ...remarks];
  return {
    kind: 'merge',
    run: run.id,
    summary: `${facts.ready.length} of ${countOf(facts.ready.length + leftOut.length)}, verify ${verification.result}: ${run.request}`,
    body: await bodyOf(engine, record, { ...facts, binding, leftOut }),
    diff: (await engine.git.patch(from, tree)).toString('utf8'),
    findings,
    binding,
    payload: {
      result: candidate.result,
      verify: verification.result,
      paths: verdict.paths,
      asks: verdict.asks.map(({ path, decision, rule = null, role = null }) => ({ path, decision, rule, role })),
      tasks: facts.ready.map((task) => task.id),
    },
    ...(facts.replaces === undefined ? {} : { replaces: facts.replaces.id }),
  };
}

function countOf(tasks: number): string {
  return tasks === 1 ? '1 task' : `${tasks} tasks`;
}

function verifyFindings(verification: Verification): readonly Finding[] {
  if (verification.result !== 'failed' && verification.result !== 'invalid') return [];
  return [{ kind: 'verify', text: `verify is ${verification.result}: approving needs --despite-verify` }];
}

async function taskText(engine: Engine, record: RunRecord, task: Task): Promise<readonly string[]> {
  const lines = [`${task.id} ${task.plan.title}`];
  for (const step of stepCommits(record, task)) {
    const files = await engine.git.numstat(await engine.git.treeOf(step.parent), await engine.git.treeOf(step.commit));
    const sum = files.reduce(
      (total, file) => ({ added: total.added + file.added, deleted: total.deleted + file.deleted }),
      { added: 0, deleted: 0 },
    );
    lines.push(
      `  ${step.role}: ${files.length} ${files.length === 1 ? 'file' : 'files'}, +${sum.added} -${sum.deleted}  ${step.commit.slice(0, 10)}`,
    );
    lines.push(...files.map((file) => `    ${escapeForDisplay(file.path)}  +${file.added} -${file.deleted}`));
  }
  const last = [...record.steps].reverse().find((step) => step.task === task.id && step.verdict !== undefined);
  const [verdict, ...findings] = last === undefined ? [] : reviewLines(last);
  if (verdict !== undefined) lines.push(`  review: ${verdict}`, ...findings.map((finding) => `    ${finding}`));
  return lines;
}

async function bodyOf(
  engine: Engine,
  record: RunRecord,
  facts: MergeFacts & { binding: NewCheckpoint['binding']; leftOut: readonly Task[] },
): Promise<string> {
  const { ready, replaces, verification, verdict } = facts;
  const ids = ready.map((task) => task.id);
  return [
    ...(replaces === undefined ? [] : [...(await changedSince(engine, replaces, facts.binding)), '']),
    ...(await Promise.all(ready.map((task) => taskText(engine, record, task)))).flat(),
    ...facts.leftOut.map(leftOutText),
    '',
    `verify: ${verification.result}`,
    ...quoteLines(verification.text),
    '',
    ...askText(verdict),
    ...noteLines(engine, record, ids),
    ...budgetText(engine, record),
  ].join('\n');
}

function leftOutText({ id, plan, state, reason }: Task): string {
  const why = reason === undefined ? '' : ` (${escapeForDisplay(reason)})`;
  return `left out: ${id} ${plan.title}, ${state}${why}`;
}

/** What changed since the checkpoint that this one replaces. */
async function changedSince(
  engine: Engine,
  before: Checkpoint,
  now: NewCheckpoint['binding'],
): Promise<readonly string[]> {
  const changes = await engine.git.diff(before.binding.content as ObjectId, now.content as ObjectId);
  return [
    `Since ${before.id}:`,
    ...bindingChanges(before.binding, now).map((change) => `  ${change}`),
    ...changes.map((change) => `  ${change.operation} ${escapeForDisplay(change.path)}`),
  ];
}

function askText(verdict: Accepted): readonly string[] {
  if (verdict.asks.length === 0) return [];
  return [
    'approving consents to these protected paths:',
    ...verdict.asks.map(
      (ask) =>
        `  ${escapeForDisplay(ask.path)} (${ask.decision}, rule ${ask.rule ?? 'none'}, ${ask.task ?? '?'}/${ask.role ?? '?'})`,
    ),
    '',
  ];
}

function budgetText(engine: Engine, record: RunRecord): readonly string[] {
  const { run } = record;
  const policies = engine.policies.pinned(run);
  const lines: string[] = [];
  for (const step of new Set(record.steps.map((each) => each.role))) {
    const policy = policies.roles.get(step);
    if (policy === undefined) continue;
    const scopes = scopesOf({ run: run.id, task: 'T1' as Task['id'], policy, limits: run.manifest.limits, day: '' });
    const scope = scopes.find((each) => each.id.startsWith('run-role:'));
    const state = scope === undefined ? undefined : budgetState(engine, scope);
    if (state !== undefined) lines.push(`  ${step}: ${Math.round(state.used).toLocaleString('en-US')} work tokens`);
  }
  return ['spent in this run:', ...lines];
}
