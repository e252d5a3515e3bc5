import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { violationWrites } from '../checkpoints/records.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { ObjectId, RunId } from '../domain/ids.ts';
import { ZERO_OBJECT_ID } from '../domain/ids.ts';
import { NOTHING_MERGED, type Run, type Task } from '../domain/run.ts';
import type { GateVerdict, MergeCandidate } from '../gate/gate.ts';
import { mergeMessage, mergeTasks } from '../gate/merge-tasks.ts';
import { eventWrite } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import { BUDGET_WARNING } from './budget-warnings.ts';
import { candidateOf } from './candidate.ts';
import { WRITE_MODE } from './commit-step.ts';
import { openConflict } from './conflicts.ts';
import { commit, type Engine } from './engine.ts';
import { mergeQuestion } from './merge-question.ts';
import { endingWrites, type RunRecord, readRun, runWrite } from './records.ts';
import { reviewLines } from './said.ts';
import { type VerifyResult, verifyResult } from './verify.ts';

/** What a run ended up with before a human is asked. */
export type Prepared =
  | {
      readonly state: 'asked';
      readonly checkpoint: Checkpoint /** Approved by the policy already. */;
      readonly direct: boolean;
    }
  | { readonly state: 'conflict' }
  | { readonly state: 'ended' };

/**
 * Merges the ready tasks one after the other in the daemon's store, verifies the result, lets the gate judge it, and
 * opens the one merge checkpoint of the run.
 */
export async function prepareMerge(engine: Engine, id: RunId, replaces?: Checkpoint): Promise<Prepared> {
  const record = readRun(engine.store, id);
  if (record === undefined) return { state: 'ended' };
  const { run } = record;
  await setRun(engine, { ...run, state: 'verifying' });
  const ready = record.tasks.filter((task) => task.id !== 'T0' && task.state === 'ready');
  const target = (await engine.user.resolve(run.manifest.target)) ?? ZERO_OBJECT_ID;
  const base = target === ZERO_OBJECT_ID ? run.manifest.baseCommit : target;
  const merged = await mergeReady(engine, run, base, ready);
  if (merged.conflict !== undefined) {
    await openConflict(engine, {
      run,
      paths: merged.conflict.paths,
      tasks: [...merged.conflict.with, merged.conflict.task],
      kind: 'textual',
      ...(merged.conflict.with.length === 0 ? { restartFrom: base } : {}),
    });
    return { state: 'conflict' };
  }
  if (merged.result === base) return endWithoutChange(engine, record);
  await engine.git.updateRef(`refs/orchestrator/${run.id}/result`, merged.result);
  const verification = await verifyResult(engine, { run, result: merged.result, tasks: ready });
  const candidate = candidateOf(engine, record, { result: merged.result, target });
  const verdict = await engine.gate.judge(candidate);
  if (!verdict.accepted) return refuse(engine, record, verdict);
  if (run.manifest.dryRun) return keepAsPatch(engine, run, { candidate, base, verify: verification.result });
  const question = await mergeQuestion(engine, record, { candidate, verdict, verification, ready, replaces });
  const { checkpoint, writes } = engine.checkpoints.prepare(question);
  const findings = checkpoint.findings.filter((finding) => finding.kind !== BUDGET_WARNING);
  // What had to be asked anew, since something changed, is always a question.
  const nothingAsks = replaces === undefined && verification.result === 'passed' && findings.length === 0;
  const direct = nothingAsks && isDirect(engine, record, verdict);
  const approval = direct ? engine.checkpoints.approvalWrites(checkpoint, 'policy write_mode: direct') : [];
  await commit(engine.store, [...writes, ...approval, runWrite({ ...run, state: 'ready' })]);
  return { state: 'asked', checkpoint, direct };
}

async function mergeReady(
  engine: Engine,
  run: Run,
  base: ObjectId,
  ready: readonly Task[],
): ReturnType<typeof mergeTasks> {
  return mergeTasks({
    git: engine.git,
    base,
    heads: ready.flatMap((task) =>
      task.head === undefined ? [] : [{ task: task.id, commit: task.head, title: task.plan.title }],
    ),
    author: run.manifest.author,
    message: (head) => mergeMessage(run.id, head),
    atMs: engine.clock.now(),
  });
}

async function refuse(
  engine: Engine,
  record: RunRecord,
  verdict: Extract<GateVerdict, { accepted: false }>,
): Promise<Prepared> {
  const { run } = record;
  const rows = verdict.refusals.flatMap((refusal): readonly Write[] =>
    violationWrites({
      id: `v-${engine.random(8)}`,
      run: run.id,
      path: refusal.path,
      operation: 'modify',
      decision: refusal.decision,
      ...(refusal.task === undefined ? {} : { task: refusal.task }),
      ...(refusal.role === undefined ? {} : { role: refusal.role }),
      ...(refusal.rule === undefined ? {} : { rule: refusal.rule }),
      attribution: refusal.role === undefined ? 'unknown' : 'role',
      tree: 'target',
      detectedBy: 'gate',
      detectedAt: engine.clock.now(),
      resolution: 'prevented',
    }),
  );
  const first = verdict.refusals.slice(0, 5).map((refusal) => `${refusal.path}: ${refusal.reason}`);
  const more = verdict.refusals.length > 5 ? ` and ${verdict.refusals.length - 5} more` : '';
  await commit(engine.store, rows);
  return end(engine, run, 'failed', `the gate refused the result: ${first.join('; ')}${more}`);
}

async function keepAsPatch(
  engine: Engine,
  run: Run,
  result: { candidate: MergeCandidate; base: ObjectId; verify: VerifyResult },
): Promise<Prepared> {
  const file = path.join(engine.paths.runs, run.id, 'staging', 'result.patch');
  const [from, to] = [await engine.git.treeOf(result.base), await engine.git.treeOf(result.candidate.result)];
  await writeFile(file, await engine.git.patch(from, to), { mode: 0o600 });
  return end(engine, run, 'cancelled', `${NOTHING_MERGED}: a dry run, verify ${result.verify}; the diff is in ${file}`);
}

/** Nothing was to be merged where the user asked for no change: a review, or roles whose write mode keeps nothing. */
async function endWithoutChange(engine: Engine, { run, steps }: RunRecord): Promise<Prepared> {
  const reviews = steps.flatMap((step) => {
    const lines = reviewLines(step);
    return lines.length === 0 ? [] : [`${step.role} says ${lines.join('\n  ')}`];
  });
  const kept = steps.flatMap((step) => step.remarks).filter((remark) => remark.kind === WRITE_MODE);
  const said = [...(run.manifest.singleRole === undefined ? [] : reviews), ...kept.map((remark) => remark.text)];
  if (said.length > 0) return end(engine, run, 'cancelled', `${NOTHING_MERGED}: ${said.join('; ')}`);
  return end(engine, run, 'failed', 'no step changed a file, so there is nothing to merge');
}

async function end(engine: Engine, run: Run, state: Run['state'], reason: string): Promise<Prepared> {
  const record = readRun(engine.store, run.id);
  await commit(engine.store, [
    ...(record === undefined ? [] : endingWrites(record, { state, reason })),
    eventWrite({ at: engine.clock.now(), type: 'run-ended', run: run.id, data: { state, reason } }),
  ]);
  return { state: 'ended' };
}

/** `write_mode: direct` for every role that changed something, and nothing to ask. */
function isDirect(engine: Engine, record: RunRecord, verdict: GateVerdict): boolean {
  const { roles } = engine.policies.pinned(record.run);
  const committed = record.steps.filter((step) => step.commit !== undefined);
  return (
    verdict.accepted &&
    verdict.asks.length === 0 &&
    committed.every((step) => roles.get(step.role)?.writeMode === 'direct')
  );
}

async function setRun(engine: Engine, run: Run): Promise<void> {
  await commit(engine.store, [
    runWrite(run),
    eventWrite({ at: engine.clock.now(), type: 'run-state', run: run.id, data: { state: run.state } }),
  ]);
}
