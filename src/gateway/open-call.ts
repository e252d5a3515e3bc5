import type { Protocol } from '../policy/policy.ts';
import type { AgentGrant } from './gateway.ts';
import type { Reserved } from './spend.ts';

/** A call that holds a reservation and must be settled exactly once. */
export interface OpenCall {
  readonly id: string;
  readonly grant: AgentGrant;
  readonly protocol: Protocol;
  readonly reserved: Reserved;
  readonly reservedMilli: number;
  /** Ids of the scopes that hold the reservation. */
  readonly scopes: readonly string[];
  /** The cap that is sent, for each choice. */
  readonly outputCap: number;
}

/** The fields that tie an event to its step. */
export function eventOrigin(grant: AgentGrant): { run: string; task: string; role: string; agent: string } {
  return { run: grant.run, task: grant.task, role: grant.role, agent: grant.agent };
}
