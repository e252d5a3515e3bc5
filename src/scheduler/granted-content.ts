import { contentKey, type GrantRecord, grantWrites } from '../checkpoints/grants.ts';
import type { Change } from '../domain/decision.ts';
import type { Write } from '../store/store.ts';
import { isGranted } from './boundary.ts';
import type { Session } from './session.ts';

/**
 * A human let the step write paths that its role is denied; the gate takes such a path with exactly one content: what
 * the step leaves. The merge checkpoint shows it among the paths that its approval consents to.
 */
export function grantedContentWrites(session: Session, changes: readonly Change[]): readonly Write[] {
  const { engine, run, task, step, decider, grants } = session;
  const contents = changes
    .filter((change) => {
      const { decision } = decider.decide(step.role, change.operation, change.path);
      return (decision === 'deny' || decision === 'out') && isGranted(change.path, undefined, grants);
    })
    .map((change): GrantRecord => {
      const { path } = change;
      return { task: task.id, role: step.role, path, kind: 'content', blob: contentKey(change) };
    });
  const granting = engine.checkpoints
    .list({ all: true, run: run.id })
    .filter(({ kind, task: asked, state }) => kind === 'violation' && asked === task.id && state === 'approved')
    .at(-1);
  if (granting === undefined) return [];
  return grantWrites({ run: run.id, checkpoint: granting.id, at: engine.clock.now(), grants: contents });
}
