import type { Checkpoint } from '../domain/checkpoint.ts';
import { eventWrite } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import { commit, type Engine } from './engine.ts';
import { mergedWrites } from './merge-finish.ts';
import { readActiveRuns, readRun, runWrite, stepWrite } from './records.ts';

/**
 * What a crash left open is finished or taken back, before anything new starts: merges whose ref moved are recorded,
 * steps that were running are queued to go on from their last recorded turn, merges under preparation begin again.
 * Returns the approved merges that still have to be carried out.
 */
export async function recoverRuns(engine: Engine): Promise<readonly Checkpoint[]> {
  for (const settled of await engine.gate.recover()) {
    const record = readRun(engine.store, settled.run);
    if (record === undefined || record.run.state === 'merged') continue;
    if (settled.outcome === 'finished') await commit(engine.store, mergedWrites(engine, record, settled.commit));
    if (settled.outcome === 'frozen') {
      const reason = `${record.run.target} was moved by somebody else while it was being merged; nothing more is merged in this run`;
      await commit(engine.store, [runWrite({ ...record.run, state: 'failed', reason })]);
    }
  }
  const approved: Checkpoint[] = [];
  for (const record of readActiveRuns(engine.store)) {
    const { run } = record;
    const writes: Write[] = record.steps
      .filter((step) => step.state === 'running')
      .map((step) => stepWrite({ ...step, state: 'queued' }));
    if (run.state === 'verifying') writes.push(runWrite({ ...run, state: 'running' }));
    if (writes.length > 0) {
      writes.push(
        eventWrite({ at: engine.clock.now(), type: 'run-recovered', run: run.id, data: { steps: writes.length } }),
      );
      await commit(engine.store, writes);
    }
    if (run.state === 'ready') approved.push(...approvedMerges(engine, run.id));
  }
  return approved;
}

function approvedMerges(engine: Engine, run: Checkpoint['run']): readonly Checkpoint[] {
  const merges = engine.checkpoints.list({ all: true, run }).filter((checkpoint) => checkpoint.kind === 'merge');
  const latest = merges.sort((a, b) => a.createdAt - b.createdAt).at(-1);
  return latest?.state === 'approved' ? [latest] : [];
}
