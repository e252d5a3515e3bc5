import { createHash } from 'node:crypto';
import type { StepHost, TurnEffects, TurnRecord } from '../agents/runner.ts';
import type { Operation, Verdict } from '../domain/decision.ts';
import type { ObjectId } from '../domain/ids.ts';
import { turnKey } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Step } from '../domain/run.ts';
import type { Write } from '../store/store.ts';
import { isGranted } from './boundary.ts';
import { budgetWarnings } from './budget-warnings.ts';
import { askNotice, type Effects, settleEffects } from './effects.ts';
import { commit } from './engine.ts';
import { stepWrite } from './records.ts';
import { type Session, sessionEvent, withTime, writeNote } from './session.ts';
import { takePlan, takeReview } from './submissions.ts';
import { refusedAttemptWrites } from './violations.ts';

/** The fifth refused or undone write of a step opens `violation`. */
const VIOLATIONS_ALLOWED = 4;

export function stepHost(session: Session): StepHost {
  const { engine } = session;
  return {
    decide: (operation, path) => decideWithGrants(session, operation, path),
    answerFor: (toolCallId) => session.answers.get(toolCallId),
    async refused(attempt) {
      // The count becomes durable with the turn: a turn that is repeated after a crash must not count twice.
      session.step = { ...session.step, violations: session.step.violations + 1 };
      await commit(engine.store, refusedAttemptWrites(session, attempt));
    },
    async refusedCommand({ command, reason }) {
      const data = { command: command.slice(0, 2000), reason, rule: 'run.allow' };
      await commit(engine.store, [sessionEvent(session, 'command-refused', data)]);
    },
    savePending: (turn) => savePending(session, turn),
    endTurn: (turn) => endTurn(session, turn),
    async appendNote(text, turn) {
      await writeNote(session, text, `${turnKey(session.step, turn)}:${shortHash(text)}`);
    },
    submitPlan: (plan) => takePlan(session, plan),
    submitReview: (review) => takeReview(session, review),
    budgetLeft: () => session.budgetLeft(),
    now: () => engine.clock.now(),
  };
}

function decideWithGrants(session: Session, operation: Operation, path: RepoPath): Verdict {
  const verdict = session.decider.decide(session.step.role, operation, path);
  switch (verdict.decision) {
    case 'never':
    case 'generated':
    case 'write':
      return verdict;
    case 'deny':
    case 'out':
    case 'ask':
      return isGranted(path, undefined, session.grants) ? { ...verdict, decision: 'write' } : verdict;
  }
}

/**
 * The calls that were answered before the one that waits have written already: their tree is kept with their results,
 * or the conversation would go on over files that are not there.
 */
async function savePending(session: Session, turn: TurnRecord): Promise<void> {
  const effects = await settleEffects(session);
  session.step = countViolations(session.step, effects);
  session.staged = undefined;
  const notices = [...turn.notices, ...effects.notices, ...effects.asks.map(askNotice)];
  await commit(session.engine.store, [
    ...effects.writes,
    turnWrite(session, { ...turn, notices }, 'pending', effects.tree),
    snapshotWrite(session, effects.tree),
    stepWrite(withTime(session)),
  ]);
  session.acceptedTree = effects.tree;
}

async function endTurn(session: Session, turn: TurnRecord): Promise<TurnEffects> {
  const { engine } = session;
  const before = session.acceptedTree;
  const effects = await settleEffects(session);
  const warnings = budgetWarnings(session);
  const counted = countViolations(session.step, effects);
  session.step = { ...counted, remarks: [...counted.remarks, ...warnings] };
  const changed = effects.tree !== before;
  const record: TurnRecord = {
    ...turn,
    notices: [...turn.notices, ...effects.notices],
    progress: turn.progress || changed,
  };
  await commit(engine.store, [
    ...effects.writes,
    turnWrite(session, record, 'done', effects.tree),
    snapshotWrite(session, effects.tree),
    stepWrite(withTime(session)),
    ...warnings.map((warning) => sessionEvent(session, warning.kind, { message: warning.text })),
    sessionEvent(session, 'turn-ended', { turn: turn.turn, tools: turn.calls.map((call) => call.name), changed }),
  ]);
  session.acceptedTree = effects.tree;
  await engine.live.update({
    run: session.run.id,
    task: session.task.id,
    role: session.step.role,
    baseTree: session.baseTree,
    tree: effects.tree,
  });
  const base = { changed, notices: effects.notices };
  if (effects.asks.length > 0) {
    const paths = effects.asks.map((ask) => ask.path);
    return {
      ...base,
      park: { kind: 'boundary', paths, reason: 'found at the end of a turn' },
    };
  }
  if (counted.violations > VIOLATIONS_ALLOWED) {
    const reason = `${counted.violations} writes outside the boundary of ${session.step.role} were refused or undone`;
    return { ...base, park: { kind: 'violation', reason } };
  }
  return base;
}

function countViolations(step: Step, effects: Effects): Step {
  return { ...step, violations: step.violations + effects.violations };
}

function turnWrite(session: Session, turn: TurnRecord, state: 'pending' | 'done', snapshot: ObjectId): Write {
  return {
    statement: 'turn-upsert',
    params: {
      agent: session.agent,
      turn: turn.turn,
      state,
      snapshot,
      data: JSON.stringify(turn),
      at: session.engine.clock.now(),
    },
  };
}

function snapshotWrite(session: Session, tree: ObjectId): Write {
  const { run, task, role } = session.step;
  return { statement: 'snapshot-insert', params: { run, task, role, tree, at: session.engine.clock.now() } };
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
