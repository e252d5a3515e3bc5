import type { Checkpoint } from '../domain/checkpoint.ts';
import type { OrchestratorError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import type { Run } from '../domain/run.ts';
import type { BudgetScope } from '../gateway/gateway.ts';
import type { Write } from '../store/store.ts';
import type { Engine } from './engine.ts';
import type { RunRecord } from './records.ts';

/** What an accepted answer does: rows that join its transaction, and what is said to the person. */
export interface AnswerEffect {
  readonly writes: readonly Write[];
  readonly message: string;
  /** Merge approvals go on outside the transaction; a raised cap wakes waiting calls. */
  readonly next?:
    | { readonly kind: 'merge'; readonly run: RunId }
    | { readonly kind: 'raise'; readonly scope: Pick<BudgetScope, 'id' | 'unit'>; readonly limit: number };
}

export type AnswerPlan =
  | { readonly ok: true; readonly effect: AnswerEffect }
  | { readonly ok: false; readonly error: OrchestratorError };

export interface AnswerContext {
  readonly engine: Engine;
  readonly record: RunRecord;
  readonly run: Run;
  readonly checkpoint: Checkpoint;
}
