import type { Check } from '../domain/check.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { Conflict, Violation } from '../domain/violation.ts';

/**
 * What the daemon offers over the control socket. Each method is one request; `run` states and numbers are as
 * product.md shapes them. A refusal is thrown as OrchestratorError (its code travels over the wire).
 */
export interface Backend {
  status(): Promise<Status>;
  run(request: RunRequest): Promise<{ run: string; target: string; notes: string[] }>;
  runs(): Promise<RunRow[]>;
  /** The `run --wait` shape; undefined when there is no such run. */
  showRun(id: string): Promise<RunResult | undefined>;
  cancel(id: string): Promise<void>;
  retry(request: { run: string; task: string }): Promise<void>;
  resume(run: string): Promise<void>;
  checkpoints(all: boolean): Promise<Checkpoint[]>;
  showCheckpoint(id: string): Promise<Checkpoint | undefined>;
  approve(request: {
    id: string;
    tokens?: number;
    usd?: number;
    despiteVerify?: boolean;
    digest?: string;
    by: string;
  }): Promise<AnswerResult>;
  reject(request: {
    id: string;
    reason: string;
    rework?: boolean;
    task?: string;
    digest?: string;
    by: string;
  }): Promise<AnswerResult>;
  report(request: { by: ReportBy; since?: number }): Promise<Report>;
  violations(): Promise<Violation[]>;
  conflicts(): Promise<Conflict[]>;
  /** Puts a path back to what it was in the role's last recorded snapshot before the change; text for people. */
  restore(request: { role: string; path: string }): Promise<{ message: string }>;
  policyReload(): Promise<{ digest: string; warnings: string[] }>;
  /** Brings a run's result into the branch checked out at `directory`. */
  land(request: {
    run: string;
    directory: string;
    squash: boolean;
    branch?: string;
  }): Promise<{ message: string; commit: string }>;
  gc(request: { dryRun: boolean }): Promise<{ message: string; bytes: number }>;
  /**
   * Waits until the run has ended or waits for a human, or `timeoutMs` has passed; then the RunResult. `signal` is
   * aborted when the client has gone: the wait ends then, whatever it resolves with is not sent.
   */
  waitRun(request: { run: string; timeoutMs: number }, signal?: AbortSignal): Promise<RunResult>;
  /** Events after `afterSeq` (of one run, when given), at most `limit`; waits up to `timeoutMs` for the first. */
  events(
    request: { afterSeq: number; limit: number; timeoutMs: number; run?: string },
    signal?: AbortSignal,
  ): Promise<EventRow[]>;
  /** What happened since the last look, what waits, spent, disk, next command. `mark` moves the last look to now. */
  digest(request: { mark: boolean }): Promise<Digest>;
  /**
   * What only the daemon can find out, with the policies and keys as they are on disk now: one minimal request for each
   * role of the pipeline (or the role of that name or alias) that is complete. `signal` as for `waitRun`.
   */
  doctor(request: { role?: string }, signal?: AbortSignal): Promise<Check[]>;
  /** Drains (or, with `now`, ends agents at once) and then stops the daemon; resolves when it is about to exit. */
  stop(request: { now: boolean }): Promise<void>;
}

export interface RunRequest {
  readonly request: string;
  readonly role?: string;
  readonly base?: string;
  readonly withWip: boolean;
  readonly target?: string;
  readonly dryRun: boolean;
  /** Author identity as read by the client with the user's git configuration and environment. */
  readonly author: { readonly name: string; readonly email: string };
}

export interface Status {
  readonly daemon: {
    pid: number;
    version: string;
    since: number;
    socket: string;
    gatewayUrl: string;
    sandbox: string;
    warnings: string[];
  };
  readonly roles: readonly {
    role: string;
    runner: string;
    model: string;
    keyTail: string;
    budget: { used: number; held: number; limit: number | 'unlimited'; window: string };
  }[];
  readonly runs: readonly { id: string; state: string; request: string }[];
  readonly checkpoints: number;
  readonly watcher: { mode: 'events' | 'polling'; trees: number; lastEventAt: number | null };
  readonly disk: { workspacesBytes: number; storeBytes: number };
  readonly conflicts: readonly Conflict[];
}

export interface RunRow {
  readonly id: string;
  readonly state: string;
  readonly request: string;
  readonly target: string;
  readonly createdAt: number;
}

export interface RunResult {
  readonly run: string;
  readonly state: string;
  readonly request: string;
  readonly reason: string | null;
  readonly tasks: readonly {
    id: string;
    title: string;
    state: string;
    reason: string | null;
    steps: { role: string; attempt: number; state: string; tokens: number }[];
  }[];
  readonly target: string;
  readonly commit: string | null;
  /** Ids of pending checkpoints of this run, oldest first. */
  readonly checkpoints: readonly string[];
}

export interface AnswerResult {
  readonly id: string;
  readonly state: 'approved' | 'rejected' | 'void';
  /** What happens now, one sentence. */
  readonly message: string;
  /** The checkpoint that replaced a void one. */
  readonly replacedBy?: string;
}

export type ReportBy = 'role' | 'model' | 'task' | 'run' | 'day';

export interface ReportRow {
  readonly key: string;
  readonly requests: number;
  readonly input: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  readonly output: number;
  readonly reasoning: number;
  readonly workTokens: number;
  /** Dollars; null when no call of the row has a known price. */
  readonly usd: number | null;
  /** Calls whose price is unknown. */
  readonly unpriced: number;
  readonly estimated: number;
  readonly forfeit: number;
}
export interface Report {
  readonly by: ReportBy;
  readonly rows: readonly ReportRow[];
  readonly total: ReportRow;
  readonly notes: readonly string[];
}

export interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly role: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Digest {
  readonly since: number;
  readonly ended: readonly { id: string; state: string; request: string }[];
  readonly running: readonly { id: string; state: string; request: string }[];
  readonly waiting: readonly { id: string; kind: string; run: string; summary: string; createdAt: number }[];
  readonly spentWorkTokens: number;
  readonly spentUsd: number | null;
  readonly diskBytes: number;
  readonly nextCommand: string;
}
