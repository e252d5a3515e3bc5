import { readViolations, violationWrites } from '../checkpoints/records.ts';
import type { Operation, Verdict } from '../domain/decision.ts';
import type { RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Violation } from '../domain/violation.ts';
import type { JudgedChange } from '../policy/policy.ts';
import type { Store, Write } from '../store/store.ts';
import type { Session } from './session.ts';

/** Rows of an attempt that was refused before it had an effect. */
export function refusedAttemptWrites(
  session: Session,
  attempt: { path: string; operation: Operation; verdict: Verdict },
): readonly Write[] {
  const violation: Violation = {
    ...basis(session),
    path: attempt.path as RepoPath,
    operation: attempt.operation,
    decision: attempt.verdict.decision,
    ...(attempt.verdict.rule === undefined ? {} : { rule: attempt.verdict.rule }),
    detectedBy: 'tool',
    resolution: 'prevented',
  };
  return violationWrites(violation);
}

/** Rows of effects that were found in a snapshot, saved as a patch and undone. */
export function undoneEffectWrites(
  session: Session,
  changes: readonly JudgedChange[],
  patch: string,
): readonly Write[] {
  return changes.flatMap((change) => {
    const rule = change.rule ?? change.special;
    const violation: Violation = {
      ...basis(session),
      path: change.path,
      operation: change.operation,
      decision: change.decision,
      ...(rule === undefined ? {} : { rule }),
      detectedBy: 'snapshot',
      resolution: 'quarantined',
      patch,
    };
    return violationWrites(violation);
  });
}

/** What a role tried on a task and nobody has approved since. */
export function openViolations(
  store: Store,
  who: { run: RunId; task: TaskId | undefined; role: RoleName | undefined },
): readonly Violation[] {
  return readViolations(store, { run: who.run }).filter(
    ({ task, role, resolution }) => task === who.task && role === who.role && resolution !== 'approved',
  );
}

/** A human may give what the policy denies or does not mention, inside the repository; never and generated stay. */
export function isGrantable({ decision, path }: Violation): boolean {
  switch (decision) {
    case 'never':
    case 'generated':
      return false;
    case 'deny':
    case 'out':
    case 'ask':
    case 'write':
      return !path.startsWith('/') && !path.split('/').includes('..');
  }
}

function basis(
  session: Session,
): Pick<Violation, 'id' | 'run' | 'task' | 'role' | 'attribution' | 'tree' | 'detectedAt'> {
  return {
    id: `v-${session.engine.random(8)}`,
    run: session.run.id,
    task: session.task.id,
    role: session.step.role,
    attribution: 'role',
    tree: 'workspace',
    detectedAt: session.engine.clock.now(),
  };
}
