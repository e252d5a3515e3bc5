import type { AnswerResult, Backend, EventRow, RunRow } from '../api/backend.ts';
import { readConflicts, readViolations } from '../checkpoints/records.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { TaskId } from '../domain/ids.ts';
import { readEvents } from '../store/events.ts';
import { answerCheckpoint } from './answering.ts';
import { cancelRun, resumeRun, retryTask } from './control.ts';
import { digestOf } from './digest.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Engine } from './engine.ts';
import { collectGarbage } from './garbage.ts';
import { landResult } from './landing.ts';
import { readRun, readRuns } from './records.ts';
import { restorePath } from './restore.ts';
import { isResting, runResult } from './run-result.ts';
import { recordRun } from './run-start.ts';
import { type DaemonFacts, statusOf } from './status.ts';
import { waitFor } from './wait-for.ts';

/** The daemon's side of the control socket: each method reads, decides by a function of its own, and acts. */
export function createBackend(
  engine: Engine,
  dispatcher: Dispatcher,
  daemon: DaemonFacts & {
    stop(options: { now: boolean }): Promise<void>;
    /** From the report room, a sibling of this one. */
    report: Backend['report'];
    /** Composed of the policies on disk and the gateway. */
    doctor: Backend['doctor'];
  },
): Backend {
  const { store } = engine;
  return {
    status: () => statusOf(engine, daemon),
    async run(request) {
      const { run, notes } = await recordRun(engine, request);
      dispatcher.wake();
      return { run: run.id, target: run.target, notes };
    },
    runs: async () =>
      readRuns(store).map(
        (run): RunRow => ({
          id: run.id,
          state: run.state,
          request: run.request,
          target: run.target,
          createdAt: run.createdAt,
        }),
      ),
    async showRun(id) {
      const record = readRun(store, id);
      return record === undefined ? undefined : runResult(engine, record);
    },
    cancel: (id) => cancelRun(engine, dispatcher, id),
    retry: (request) => retryTask(engine, dispatcher, request),
    resume: (run) => resumeRun(engine, dispatcher, run),
    checkpoints: async (all) => [...engine.checkpoints.list({ all })].sort(oldestFirst),
    showCheckpoint: async (id) => engine.checkpoints.get(id),
    approve: (request) =>
      answerCheckpoint(engine, dispatcher, {
        id: request.id,
        ...digestPart(request),
        answer: {
          verdict: 'approve',
          by: request.by,
          ...(request.tokens === undefined ? {} : { tokens: request.tokens }),
          ...(request.usd === undefined ? {} : { usd: request.usd }),
          ...(request.despiteVerify === undefined ? {} : { despiteVerify: request.despiteVerify }),
        },
      }),
    reject: (request): Promise<AnswerResult> =>
      answerCheckpoint(engine, dispatcher, {
        id: request.id,
        ...digestPart(request),
        answer: {
          verdict: 'reject',
          reason: request.reason,
          by: request.by,
          ...(request.rework === undefined ? {} : { rework: request.rework }),
          ...(request.task === undefined ? {} : { task: request.task as TaskId }),
        },
      }),
    report: (request) => daemon.report(request),
    violations: async () => [...readViolations(store)],
    conflicts: async () => [...readConflicts(store)],
    restore: (request) => restorePath(engine, request),
    async policyReload() {
      const reloaded = await engine.policies.reload();
      engine.gateway.recheck();
      return reloaded;
    },
    land: (request) => landResult(engine, request),
    gc: (request) => collectGarbage(engine, request),
    waitRun: (request, signal) =>
      waitFor({
        timeoutMs: request.timeoutMs,
        signal,
        look: () => {
          const record = readRun(store, request.run);
          const result = record === undefined ? undefined : runResult(engine, record);
          return { done: result === undefined || isResting(result), value: result };
        },
      }).then((result) => result ?? noSuchRun(request.run)),
    events: (request, signal) =>
      waitFor({
        timeoutMs: request.timeoutMs,
        signal,
        look: () => {
          const rows: EventRow[] = readEvents(store, request.afterSeq, request.limit);
          return { done: rows.length > 0, value: rows };
        },
      }),
    digest: (request) => digestOf(engine, request),
    doctor: (request, signal) => daemon.doctor(request, signal),
    stop: (request) => daemon.stop(request),
  };
}

function digestPart(request: { digest?: string }): { digest?: string } {
  return request.digest === undefined ? {} : { digest: request.digest };
}

function oldestFirst(left: Checkpoint, right: Checkpoint): number {
  return left.createdAt - right.createdAt;
}

function noSuchRun(id: string): never {
  throw new RangeError(`no run ${id}`);
}
