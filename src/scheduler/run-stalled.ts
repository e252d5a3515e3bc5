import { bindingOf, contentHash } from './binding.ts';
import { commit, type Engine } from './engine.ts';
import { hasEnded } from './plan.ts';
import { type RunRecord, runWrite } from './records.ts';

/** A human said no and all that was open is failed: what is left comes to its end without another question. */
export function isDeclined(engine: Engine, record: RunRecord): boolean {
  return (
    record.tasks.every(hasEnded) &&
    engine.checkpoints
      .list({ all: true, run: record.run.id })
      .some(({ kind, state, payload }) => kind === 'stalled' && state === 'rejected' && payload['scope'] === 'run')
  );
}

/** Asks once whether a run that reached one of its own limits may have the same allowance again. */
export async function openRunStalled(engine: Engine, record: RunRecord, problem: string): Promise<void> {
  const { run } = record;
  const asked = engine.checkpoints
    .list({ all: false, run: run.id })
    .some((checkpoint) => checkpoint.kind === 'stalled' && checkpoint.payload['scope'] === 'run');
  if (asked) return;
  const { writes } = engine.checkpoints.prepare({
    kind: 'stalled',
    run: run.id,
    summary: `the run is stalled: ${problem}`,
    body: `${problem}. Agents at work finish their step; nothing new starts until this is answered.`,
    binding: await bindingOf(engine, run, {
      action: 'allow-again',
      content: contentHash('run', problem, run.allowances),
      paths: [],
    }),
    payload: { scope: 'run' },
  });
  await commit(engine.store, [...writes, runWrite({ ...run, state: 'paused' })]);
}
