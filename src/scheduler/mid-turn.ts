import type { ObjectId } from '../domain/ids.ts';
import { judgeChanges } from '../policy/judge.ts';
import { sortChanges } from './boundary.ts';
import { commit } from './engine.ts';
import { type Session, sessionEvent } from './session.ts';

/**
 * A look at a tree while its agent works: other running tasks hear of what it changed, and what the boundary will not
 * allow is announced once (`boundary-alarm`). Only reads; undoing and counting are for the turn's end, since the agent
 * may still put things right itself.
 */
export function midTurnLook(session: Session): () => Promise<void> {
  const announced = new Set<string>();
  return async () => {
    const { engine, workspace, acceptedTree } = session;
    const { tree } = await workspace.snapshot();
    if (tree === acceptedTree) return;
    const { run, task, role } = session.step;
    await engine.live.update({ run, task, role, baseTree: session.baseTree, tree });
    const judged = await judgeChanges({
      changes: await workspace.changes(acceptedTree, tree),
      role,
      decider: session.decider,
      linkTarget: async (change) => (await engine.git.readBlob(change.newBlob as ObjectId)).toString('utf8'),
    });
    const { violations } = sortChanges(judged, session);
    const fresh = violations.filter((change) => !announced.has(`${change.path}\0${change.newBlob}`));
    for (const change of fresh) announced.add(`${change.path}\0${change.newBlob}`);
    const events = fresh.map(({ path, operation, decision, rule }) =>
      sessionEvent(session, 'boundary-alarm', { path, operation, decision, rule: rule ?? null, detectedBy: 'watch' }),
    );
    if (events.length > 0) await commit(engine.store, events);
  };
}
