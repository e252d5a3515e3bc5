import type { CheckpointId, ObjectId, RoleName, RunId, TaskId } from './ids.ts';
import type { RepoPath } from './path.ts';

export type CheckpointKind =
  | 'plan'
  | 'boundary'
  | 'command'
  | 'new-tool'
  | 'generated' // may I
  | 'budget'
  | 'stalled'
  | 'conflict'
  | 'violation'
  | 'deny-workaround'
  | 'route' // stuck
  | 'merge'; // ready

/** Order in which kinds are shown: may I, stuck, ready. */
export const CHECKPOINT_FAMILIES = {
  plan: 0,
  boundary: 0,
  command: 0,
  'new-tool': 0,
  generated: 0,
  budget: 1,
  stalled: 1,
  conflict: 1,
  violation: 1,
  'deny-workaround': 1,
  route: 1,
  merge: 2,
} as const satisfies Record<CheckpointKind, number>;

export type CheckpointState = 'pending' | 'approved' | 'rejected' | 'void';

/** What an approval is bound to. When any of it changes the checkpoint is void and a new one shows the difference. */
export interface Binding {
  /** `merge`, `plan`, `grant`, `raise-budget`, … */
  readonly action: string;
  /** Hash of the content shown, or the result tree. */
  readonly content: string;
  readonly targetCommit: ObjectId;
  readonly policyDigest: string;
  readonly paths: readonly RepoPath[];
  readonly nonce: string;
}

/** Something that a human should see before approving a merge. */
export interface Finding {
  readonly kind: string;
  readonly text: string;
  readonly task?: TaskId;
  readonly role?: RoleName;
}

export interface Checkpoint {
  readonly id: CheckpointId;
  readonly kind: CheckpointKind;
  readonly state: CheckpointState;
  readonly run: RunId;
  readonly task?: TaskId;
  readonly role?: RoleName;
  readonly attempt?: number;
  /** One line: who wants what. */
  readonly summary: string;
  /** Full text for `show`: evidence, request, effects of approve and reject. Escaped when shown, never before. */
  readonly body: string;
  /** The exact diff, when there is one (git patch text, may hold hostile bytes; escaped when shown). */
  readonly diff?: string;
  readonly findings: readonly Finding[];
  readonly binding: Binding;
  /** sha256 over the binding, hex, first 12 characters are shown. */
  readonly digest: string;
  /** What the asker needs back when it is answered; its shape depends on the kind. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly answeredAt?: number;
  readonly answer?: Answer;
  /** The checkpoint that this one replaces after a change. */
  readonly replaces?: CheckpointId;
}

export type Answer =
  | {
      readonly verdict: 'approve';
      /** The new absolute cap of a budget, in work tokens or in dollars. */
      readonly tokens?: number;
      readonly usd?: number;
      readonly despiteVerify?: boolean;
      readonly by: string;
    }
  | {
      readonly verdict: 'reject';
      readonly reason: string;
      readonly rework?: boolean;
      readonly task?: TaskId;
      readonly by: string;
    };
