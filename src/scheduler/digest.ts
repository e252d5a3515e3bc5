import type { Digest } from '../api/backend.ts';
import { FINAL_STATES, type Run } from '../domain/run.ts';
import { commit, type Engine } from './engine.ts';
import { readRuns } from './records.ts';

const LAST_LOOK = 'last-look-at';

/** What happened since the last look, what waits (oldest first), what it cost, disk, and the next command. */
export async function digestOf(engine: Engine, request: { mark: boolean }): Promise<Digest> {
  const now = engine.clock.now();
  const since = Number(engine.store.read('meta-get', { key: LAST_LOOK })[0]?.['value'] ?? 0);
  const endings = new Map(
    engine.store.read('run-endings-since', { since }).map((row) => [String(row['run']), Number(row['at'])]),
  );
  const runs = readRuns(engine.store);
  const waiting = [...engine.checkpoints.list({ all: false })].sort((left, right) => left.createdAt - right.createdAt);
  const spent = engine.store.read('call-spent-since', { since })[0];
  if (request.mark) {
    await commit(engine.store, [{ statement: 'meta-set', params: { key: LAST_LOOK, value: String(now) } }]);
  }
  return {
    since,
    ended: runs.filter((run) => endings.has(run.id) && FINAL_STATES.has(run.state)).map(row),
    running: runs.filter((run) => !FINAL_STATES.has(run.state)).map(row),
    waiting: waiting.map(({ id, kind, run, summary, createdAt }) => ({ id, kind, run, summary, createdAt })),
    spentWorkTokens: Number(spent?.['work_milli'] ?? 0) / 1000,
    spentUsd: Number(spent?.['unpriced'] ?? 0) > 0 ? null : Number(spent?.['usd_micros'] ?? 0) / 1e6,
    diskBytes: (await engine.pool.diskBytes()) + (await engine.git.diskBytes()),
    nextCommand: nextCommand(runs, waiting.length),
  };
}

function nextCommand(runs: readonly Run[], waiting: number): string {
  if (waiting > 0) return 'orchestrator review';
  const merged = runs.find((run) => run.state === 'merged' || run.state === 'ready');
  if (runs.some((run) => !FINAL_STATES.has(run.state) && run.state !== 'ready')) return 'orchestrator status';
  return merged === undefined ? 'orchestrator run "what should change"' : `orchestrator land ${merged.id}`;
}

function row(run: Run): { id: string; state: string; request: string } {
  return { id: run.id, state: run.state, request: run.request };
}
