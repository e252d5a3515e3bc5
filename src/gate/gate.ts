import type { AskClass, Decision } from '../domain/decision.ts';
import type { ObjectId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';

/** A commit that a step made, with the role that must answer for it. */
export interface StepCommit {
  readonly task: TaskId;
  readonly role: RoleName;
  readonly commit: ObjectId;
  /** The commit it started from. */
  readonly parent: ObjectId;
}

export interface Grant {
  readonly task: TaskId;
  readonly role: RoleName;
  readonly path: RepoPath;
  /** `access`: the path may be written in this task. `content`: exactly this (contentKey of checkpoints/grants.ts). */
  readonly kind: 'access' | 'content';
  readonly blob: string;
}

export interface MergeCandidate {
  readonly run: RunId;
  /** Full ref name of the target. */
  readonly target: string;
  /** Where the target is now; zero id when it does not exist. */
  readonly targetCommit: ObjectId;
  /** What to compare the result with when the target does not exist: the run's base. */
  readonly baseCommit: ObjectId;
  readonly result: ObjectId;
  readonly steps: readonly StepCommit[];
  readonly grants: readonly Grant[];
}

export interface GatePath {
  readonly path: RepoPath;
  readonly decision: Decision;
  readonly rule: string | undefined;
  readonly askClass: AskClass | undefined;
  readonly task: TaskId | undefined;
  readonly role: RoleName | undefined;
  readonly special: string | undefined;
}

export type GateVerdict =
  | { readonly accepted: true; readonly asks: readonly GatePath[]; readonly paths: readonly GatePath[] }
  | { readonly accepted: false; readonly refusals: readonly (GatePath & { readonly reason: string })[] };

export type MoveOutcome =
  | { readonly state: 'moved'; readonly commit: ObjectId }
  /** The target is checked out somewhere: nothing was moved, `land` does it. */
  | { readonly state: 'checked-out' }
  /** The target was elsewhere: nothing was moved. */
  | { readonly state: 'target-moved'; readonly found: ObjectId | undefined };

/** The last check before the target branch moves (security.md section 4). */
export interface Gate {
  /** Steps 3 to 6: objects are sound, both raw diffs are inside globs or covered, names do not collide. */
  judge(candidate: MergeCandidate): Promise<GateVerdict>;
  /**
   * Step 9: judges again, then objects into the user's repository, intent row, compare-and-swap, re-read, done row.
   * Throws `refused` (nothing moved) when the verdict is no, or when the approval is not approved, was used, or is bound
   * to another run, result tree, target commit or (where given) policy digest.
   */
  move(candidate: MergeCandidate, approval: { checkpoint: string; policyDigest?: string }): Promise<MoveOutcome>;
  /** Finishes or voids intents that a crash left open; the runs whose target turned out to have moved. */
  recover(): Promise<readonly { run: RunId; outcome: 'finished' | 'void' | 'frozen'; commit: ObjectId }[]>;
}
