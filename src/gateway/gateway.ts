import type { BudgetUnit } from '../domain/amount.ts';
import type { AgentId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { TokenLimit } from '../policy/policy.ts';

/** One budget that a call counts against. `id` is the primary key of the ledger's row and carries the window. */
export interface BudgetScope {
  /**
   * `task:<run>/<task>/<role>`, `run:<run>`, `run-role:<run>/<role>`, `day:<YYYY-MM-DD>`, `day-role:<YYYY-MM-DD>/<role>`,
   * and in dollars `usd-task:<run>/<task>/<role>`.
   */
  readonly id: string;
  /** What the limit counts; work tokens when absent. */
  readonly unit?: BudgetUnit;
  readonly limit: TokenLimit;
  /** For people: `task T1 of role coder`. */
  readonly label: string;
}

/** Whom a call is charged to. A call of no step (`doctor`) has a role and nothing else. */
export interface Payer {
  readonly agent?: AgentId;
  readonly run?: RunId;
  readonly task?: TaskId;
  readonly role: RoleName;
  readonly attempt?: number;
  readonly protocol: 'anthropic' | 'openai-chat' | 'openai-responses';
  readonly model: string;
  /** The role's real key. */
  readonly key: string;
  readonly cacheReadWeight: number;
  /** Spending scopes for the given UTC day (`YYYY-MM-DD`), with the limits that the policies say now. */
  readonly scopes: (day: string) => readonly BudgetScope[];
}

/** What a virtual key stands for. The real key never leaves the daemon. */
export interface AgentGrant extends Payer {
  readonly agent: AgentId;
  readonly run: RunId;
  readonly task: TaskId;
  readonly attempt: number;
  /** The output cap for calls that name none; 16,384 when absent. */
  readonly maxOutputTokens?: number;
}

/** Which budget said no, with the numbers that the report shows too, in the unit of the budget. */
export interface Refusal {
  readonly scope: string;
  readonly unit: BudgetUnit;
  readonly label: string;
  readonly used: number;
  readonly held: number;
  readonly limit: number;
  /** What the refused call would have needed at least. */
  readonly needed: number;
  /** The limit is in dollars and the price of the model is unknown: no raise helps. */
  readonly isUnpriced?: true;
}

export interface Gateway {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** Unix socket with the same server, bound into views. */
  readonly socketPath: string;
  /** Makes a virtual key that works until `revoke`. */
  issue(grant: AgentGrant): string;
  /** Ends the key's calls in flight (they settle) and forgets it. */
  revoke(agent: AgentId): Promise<void>;
  /** The last budget refusal of this agent, if its last call was refused. */
  refusal(agent: AgentId): Refusal | undefined;
  /** Makes `limit` the new absolute cap of a scope, in its unit. Waiting calls look again. */
  raise(scope: Pick<BudgetScope, 'id' | 'unit'>, limit: number): Promise<void>;
  /** The limits of the policies may have changed: waiting calls look again. */
  recheck(): void;
  stop(): Promise<void>;
}
