import type { Checkpoint } from '../domain/checkpoint.ts';
import { type ObjectId, ZERO_OBJECT_ID } from '../domain/ids.ts';
import type { Run } from '../domain/run.ts';
import { eventWrite } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import { candidateOf } from './candidate.ts';
import { commit, type Engine } from './engine.ts';
import { prepareMerge } from './merge-prepare.ts';
import { endingWrites, type RunRecord, readRun, runWrite, taskWrite } from './records.ts';

/** Carries an approved merge out: the gate judges once more, then the target moves by compare-and-swap. */
export async function finishMerge(engine: Engine, asked: Checkpoint): Promise<void> {
  const record = readRun(engine.store, asked.run);
  if (record === undefined) return;
  const result = asked.payload['result'] as ObjectId;
  const target = (await engine.user.resolve(record.run.manifest.target)) ?? ZERO_OBJECT_ID;
  // Moved since the approval, or a crash came between noticing that and asking anew.
  if (target !== asked.binding.targetCommit) {
    await prepareMerge(engine, record.run.id, asked);
    return;
  }
  const candidate = candidateOf(engine, record, { result, target });
  const verdict = await engine.gate.judge(candidate);
  if (!verdict.accepted) {
    const reason = `the gate refused the approved result: ${verdict.refusals.map((each) => `${each.path}: ${each.reason}`).join('; ')}`;
    await commit(engine.store, [
      ...endingWrites(record, { state: 'failed', reason }),
      ended(engine, record.run, 'failed', reason),
    ]);
    return;
  }
  const moved = await engine.gate.move(candidate, {
    checkpoint: asked.id,
    policyDigest: asked.binding.policyDigest,
  });
  switch (moved.state) {
    case 'moved':
      await commit(engine.store, mergedWrites(engine, record, moved.commit));
      return;
    case 'checked-out': {
      const reason = `${record.run.target} is checked out, so it was not moved: run \`orchestrator land ${record.run.id}\` there`;
      await commit(engine.store, [
        runWrite({ ...record.run, reason }),
        eventWrite({ at: engine.clock.now(), type: 'merge-left-to-land', run: record.run.id, data: { reason } }),
      ]);
      return;
    }
    case 'target-moved':
      await prepareMerge(engine, record.run.id, asked);
      return;
  }
}

/** The run and its merged tasks, once the target was seen at the result. */
export function mergedWrites(engine: Engine, record: RunRecord, commitId: ObjectId): readonly Write[] {
  const { run, tasks } = record;
  const { reason: _reason, ...rest } = run;
  return [
    runWrite({ ...rest, state: 'merged', commit: commitId }),
    ...tasks.filter((task) => task.state === 'ready').map((task) => taskWrite({ ...task, state: 'merged' })),
    ended(engine, run, 'merged', `${run.target} is at ${commitId}`),
  ];
}

function ended(engine: Engine, run: Run, state: Run['state'], reason: string): Write {
  return eventWrite({ at: engine.clock.now(), type: 'run-ended', run: run.id, data: { state, reason } });
}
