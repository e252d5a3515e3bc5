import type { BudgetUnit } from '../domain/amount.ts';
import type { Protocol } from '../policy/policy.ts';
import type { NewEvent } from '../store/events.ts';
import type { Payer } from './gateway.ts';
import type { Reserved } from './spend.ts';

/** A call that holds a reservation and must be settled exactly once. */
export interface OpenCall {
  readonly id: string;
  readonly grant: Payer;
  readonly protocol: Protocol;
  readonly reserved: Reserved;
  readonly reservedMilli: number;
  /** The reservation as each scope holds it. */
  readonly holds: readonly Hold[];
  /** The cap that is sent, for each choice. */
  readonly outputCap: number;
  /** The cap that was asked for, when the budgets left room for a smaller one only. */
  readonly clampedFrom?: number;
}

/** `amount` as the scope's row counts. */
export interface Hold {
  readonly scope: string;
  readonly unit: BudgetUnit;
  readonly amount: number;
}

/** The fields that tie an event to its step. */
export function eventOrigin(grant: Payer): Pick<NewEvent, 'run' | 'task' | 'role' | 'agent'> {
  return { run: grant.run, task: grant.task, role: grant.role, agent: grant.agent };
}
