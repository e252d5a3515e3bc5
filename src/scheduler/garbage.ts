import { FINAL_STATES } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import { commit, type Engine } from './engine.ts';
import { readRuns } from './records.ts';

/**
 * Lets go of the snapshots of ended runs and of the base refs that kept their commits from being pruned. Results and
 * patches stay. `bytes` is the size of the store before; git frees the space when it next repacks.
 */
export async function collectGarbage(
  engine: Engine,
  request: { dryRun: boolean },
): Promise<{ message: string; bytes: number }> {
  const before = await engine.git.diskBytes();
  const ended = readRuns(engine.store).filter((run) => FINAL_STATES.has(run.state));
  let refs = 0;
  for (const run of ended) {
    const all = await engine.git.refs(`refs/orchestrator/${run.id}/`);
    const snapshots = [...all.keys()].filter((ref) => /\/\d+$/.test(ref));
    refs += snapshots.length;
    if (request.dryRun) continue;
    for (const ref of snapshots) await engine.git.updateRef(ref, undefined);
    if (run.state === 'merged') await engine.user.deleteRef(`refs/orchestrator/${run.id}/base`);
  }
  if (!request.dryRun) {
    await commit(engine.store, [eventWrite({ at: engine.clock.now(), type: 'garbage-collected', data: { refs } })]);
  }
  const did = request.dryRun ? 'would let go of' : 'let go of';
  return {
    message: `${did} ${refs} snapshots of ${ended.length} ended runs; results, patches and running work stay`,
    bytes: before,
  };
}
