import type { Finding } from './checkpoint.ts';
import type { ObjectId, RoleName, RunId, TaskId } from './ids.ts';

/** States of a run and of a task. `paused` waits at a checkpoint other than merge; a run waiting at merge is `ready`. */
export type RunState =
  | 'queued'
  | 'running'
  | 'paused'
  | 'verifying'
  | 'ready'
  | 'merged'
  | 'rejected'
  | 'failed'
  | 'budget_exhausted'
  | 'cancelled';

/** A step also has `done`: its agent ended well and its changes, if any, are a commit. */
export type StepState = RunState | 'done';

export const FINAL_STATES: ReadonlySet<StepState> = new Set([
  'merged',
  'rejected',
  'failed',
  'budget_exhausted',
  'cancelled',
  'done',
]);

/** Begins the reason of a run that came to its end as ordered and had nothing to merge: its state is `cancelled`. */
export const NOTHING_MERGED = 'nothing was merged';

/** What a run was started with; pinned for its life and written to `runs/<run>/manifest.json`. */
export interface Manifest {
  readonly run: RunId;
  readonly request: string;
  readonly createdAt: number;
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  /** Full ref name, `refs/heads/orchestrator/<run>` unless `--target`. */
  readonly target: string;
  /** The target's commit when the run began; the zero id when the branch did not exist. */
  readonly targetCommit: ObjectId;
  readonly policyDigest: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly pipeline: readonly RoleName[];
  readonly models: Readonly<Record<string, { protocol: string; id: string }>>;
  readonly baseUrl: string;
  readonly limits: {
    readonly runTokens: number | 'unlimited';
    readonly dayTokens: number | 'unlimited';
    readonly runWallClockMs: number;
    readonly commits: number;
    readonly netLines: number;
    readonly reviewRounds: number;
  };
  readonly versions: { readonly orchestrator: string; readonly node: string; readonly git: string };
  /** `run --role`: a single step without a plan. */
  readonly singleRole?: RoleName;
  readonly dryRun: boolean;
  /** Whether uncommitted work was taken along as the base (`--with-wip`). */
  readonly withWip: boolean;
}

export interface Run {
  readonly id: RunId;
  readonly state: RunState;
  readonly request: string;
  /** Short branch name as shown to people, `orchestrator/<run>`. */
  readonly target: string;
  readonly createdAt: number;
  readonly manifest: Manifest;
  /** The result commit once the target has moved. */
  readonly commit?: ObjectId;
  /** Why the run ended or waits, in one sentence. */
  readonly reason?: string;
  /** Milliseconds spent working; waiting at a checkpoint and suspend do not count. */
  readonly activeMs: number;
  /** How often a human granted the run's own limits again. */
  readonly allowances: number;
}

/** The planner's own step hangs on this pseudo task; it is not listed among a run's tasks. */
export const PLAN_TASK = 'T0' as TaskId;

/** A task as the planner described it; the id is the daemon's. */
export interface TaskPlan {
  readonly title: string;
  readonly steps: readonly RoleName[];
  /** For scheduling and display only; they are no boundary. */
  readonly expectedPaths: readonly string[];
  readonly instructions: string;
  readonly acceptance?: string;
  readonly dependsOn: readonly TaskId[];
}

export interface Task {
  readonly run: RunId;
  readonly id: TaskId;
  readonly state: RunState;
  readonly plan: TaskPlan;
  /** The commit the first step starts from; known when the task starts. */
  readonly base?: ObjectId;
  /** The commit of the last step that changed something. */
  readonly head?: ObjectId;
  /** Attempt number of the current round; it grows with every rework and every restart. */
  readonly round: number;
  /** How often a reviewer asked for changes. */
  readonly reviewRounds: number;
  /** How often a human granted the review rounds again. */
  readonly allowances: number;
  /** Tasks whose result this one starts from because a conflict was approved. */
  readonly after: readonly TaskId[];
  /** Why the coder has to work again: a review, a human's reason, a failed verify. */
  readonly rework?: { readonly reason: string; readonly findings: readonly ReviewFinding[] };
  readonly reason?: string;
}

export interface ReviewFinding {
  readonly path?: string | undefined;
  readonly line?: number | undefined;
  readonly severity: string;
  readonly text: string;
}

export interface Step {
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
  readonly attempt: number;
  readonly state: StepState;
  /** The commit the step started from. */
  readonly start?: ObjectId;
  /** The commit it made; undefined when it changed nothing. */
  readonly commit?: ObjectId;
  /** Added minus deleted lines of that commit. */
  readonly netLines?: number;
  readonly summary?: string;
  readonly reason?: string;
  /** Milliseconds of work so far (limits.wall_clock). */
  readonly activeMs: number;
  /** Allowances granted at `stalled`: how many times the limits count again. */
  readonly allowances: number;
  /** Refused attempts and undone effects since the last `violation` checkpoint. */
  readonly violations: number;
  /** The reviewer's verdict, once given. */
  readonly verdict?: 'approve' | 'request_changes';
  readonly findings?: readonly ReviewFinding[];
  /** Whether the planner's plan was accepted. */
  readonly planned?: boolean;
  /** What the human should know at the merge (`dirty-end`, clamped answers, …). */
  readonly remarks: readonly Finding[];
}
