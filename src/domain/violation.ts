import type { Decision, Operation } from './decision.ts';
import type { RoleName, RunId, TaskId } from './ids.ts';
import type { RepoPath } from './path.ts';

/** Who did it, never a guess. */
export type Attribution = 'role' | 'human' | 'ambiguous' | 'unknown';
export type DetectedBy = 'tool' | 'watch' | 'snapshot' | 'gate';
export type Resolution = 'prevented' | 'restored' | 'quarantined' | 'approved';

/** An effect, or a refused attempt, that the boundary does not allow. */
export interface Violation {
  readonly id: string;
  readonly run?: RunId;
  readonly task?: TaskId;
  readonly role?: RoleName;
  readonly path: RepoPath;
  readonly operation: Operation;
  readonly decision: Decision;
  readonly rule?: string;
  readonly attribution: Attribution;
  /** `workspace` for an agent's private tree, `checkout` for the user's. */
  readonly tree: 'workspace' | 'checkout' | 'target';
  readonly detectedBy: DetectedBy;
  /** Milliseconds since the epoch. */
  readonly detectedAt: number;
  readonly resolution: Resolution;
  /** Path of the saved patch in the state directory, when the change was quarantined. */
  readonly patch?: string;
}

export type ConflictKind = 'overlap' | 'stale-write' | 'textual' | 'semantic';

export interface Conflict {
  readonly id: string;
  readonly run: RunId;
  readonly path: RepoPath;
  readonly kind: ConflictKind;
  readonly roles: readonly string[];
  readonly tasks: readonly TaskId[];
  readonly state: 'open' | 'waiting' | 'resolved';
}
