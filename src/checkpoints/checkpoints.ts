import type { Answer, Binding, Checkpoint, CheckpointKind, Finding } from '../domain/checkpoint.ts';
import type { CheckpointId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { Write } from '../store/store.ts';

export interface NewCheckpoint {
  readonly kind: CheckpointKind;
  readonly run: RunId;
  readonly task?: TaskId;
  readonly role?: RoleName;
  readonly attempt?: number;
  readonly summary: string;
  readonly body: string;
  readonly diff?: string;
  readonly findings?: readonly Finding[];
  readonly binding: Omit<Binding, 'nonce'>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly replaces?: CheckpointId;
}

/** What the world looks like when the answer arrives; compared with the binding. */
export interface CurrentState {
  readonly content: string;
  readonly targetCommit: string;
  readonly policyDigest: string;
}

export type AnswerOutcome =
  | { readonly state: 'accepted'; readonly checkpoint: Checkpoint }
  /** Already answered or void. */
  | { readonly state: 'used'; readonly checkpoint: Checkpoint }
  /** What it was bound to has changed: it is void now; `changed` says what, in words. */
  | { readonly state: 'void'; readonly checkpoint: Checkpoint; readonly changed: readonly string[] };

/** Durable questions to the human: bound, single use, never expiring, void when what they showed has changed. */
export interface Checkpoints {
  /** The rows to write (with the caller's own state change, in one transaction). */
  prepare(request: NewCheckpoint): { readonly checkpoint: Checkpoint; readonly writes: readonly Write[] };
  get(id: string): Checkpoint | undefined;
  /** Oldest first within a family; families in the order may I, stuck, ready. */
  list(options: { all: boolean; run?: RunId }): readonly Checkpoint[];
  /**
   * Answers once. `extraWrites` join the transaction. `rehash` gives the current state to compare the binding with;
   * a mismatch voids the checkpoint instead.
   */
  answer(
    id: CheckpointId,
    answer: Answer,
    current: CurrentState,
    extraWrites?: readonly Write[],
  ): Promise<AnswerOutcome>;
  /**
   * Rows that approve a checkpoint in the transaction that opens it, where the policy has answered already: nobody ever
   * sees it wait.
   */
  approvalWrites(checkpoint: Checkpoint, by: string): readonly Write[];
  /** Rows that make a pending checkpoint void (the run was cancelled, the step was superseded). */
  voidWrites(id: CheckpointId, reason: string): readonly Write[];
}
