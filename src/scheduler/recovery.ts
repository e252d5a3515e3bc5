import type { Checkpoint } from '../domain/checkpoint.ts';
import { agentId } from '../domain/ids.ts';
import { FINAL_STATES } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import { finishCancelling } from './control.ts';
import { commit, type Engine } from './engine.ts';
import { mergedWrites } from './merge-finish.ts';
import {
  endingWrites,
  openTasks,
  type RunRecord,
  readActiveRuns,
  readRun,
  readRuns,
  runWrite,
  stepWrite,
} from './records.ts';

/**
 * What a crash left open is finished or taken back, before anything new starts: merges whose ref moved are recorded,
 * steps that were running are queued to go on from their last recorded turn, merges under preparation begin again,
 * cancellations are completed. Returns the approved merges that still have to be carried out.
 */
export async function recoverRuns(engine: Engine): Promise<readonly Checkpoint[]> {
  await recoverMerges(engine);
  for (const run of readRuns(engine.store).filter((each) => each.state === 'cancelled')) {
    const record = readRun(engine.store, run.id);
    if (record !== undefined && isHalfCancelled(engine, record)) await finishCancelling(engine, record);
  }
  const approved: Checkpoint[] = [];
  const active = readActiveRuns(engine.store);
  endLeftovers(engine, active);
  for (const record of active) {
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

async function recoverMerges(engine: Engine): Promise<void> {
  for (const settled of await engine.gate.recover()) {
    const record = readRun(engine.store, settled.run);
    if (record === undefined || record.run.state === 'merged') continue;
    if (settled.outcome === 'finished') await commit(engine.store, mergedWrites(engine, record, settled.commit));
    if (settled.outcome === 'frozen') {
      const reason = `${record.run.target} was moved by somebody else while it was being merged; nothing more is merged in this run`;
      const data = { state: 'failed', reason };
      await commit(engine.store, [
        ...endingWrites(record, { state: 'failed', reason }),
        eventWrite({ at: engine.clock.now(), type: 'run-ended', run: record.run.id, data }),
      ]);
    }
  }
}

function endLeftovers(engine: Engine, records: readonly RunRecord[]): void {
  const running = records.flatMap((record) => record.steps.filter((step) => step.state === 'running'));
  if (running.length === 0) return;
  const ended = engine.sandbox.endLeftovers(running.map(agentId));
  if (ended > 0) engine.log.warn({ processes: ended }, 'processes of agents outlived the daemon and were ended');
}

function isHalfCancelled(engine: Engine, record: RunRecord): boolean {
  return (
    openTasks(record).length > 0 ||
    record.steps.some((step) => !FINAL_STATES.has(step.state)) ||
    engine.checkpoints.list({ all: false, run: record.run.id }).length > 0
  );
}

function approvedMerges(engine: Engine, run: Checkpoint['run']): readonly Checkpoint[] {
  const merges = engine.checkpoints.list({ all: true, run }).filter((checkpoint) => checkpoint.kind === 'merge');
  const latest = merges.sort((a, b) => a.createdAt - b.createdAt).at(-1);
  return latest?.state === 'approved' ? [latest] : [];
}
