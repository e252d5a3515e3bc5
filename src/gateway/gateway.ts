import type { AgentId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { TokenLimit } from '../policy/policy.ts';

/** One budget that a call counts against. `id` is the primary key of the ledger's row and carries the window. */
export interface BudgetScope {
  /** `task:<run>/<task>/<role>`, `run:<run>`, `run-role:<run>/<role>`, `day:<YYYY-MM-DD>`, `day-role:<YYYY-MM-DD>/<role>`. */
  readonly id: string;
  readonly limit: TokenLimit;
  /** For people: `task T1 of role coder`. */
  readonly label: string;
}

/** What a virtual key stands for. The real key never leaves the daemon. */
export interface AgentGrant {
  readonly agent: AgentId;
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
  readonly attempt: number;
  readonly protocol: 'anthropic' | 'openai-chat' | 'openai-responses';
  readonly model: string;
  /** The role's real key. */
  readonly key: string;
  readonly cacheReadWeight: number;
  /** The output cap for calls that name none; 16,384 when absent. */
  readonly maxOutputTokens?: number;
  /** Spending scopes for the given UTC day (`YYYY-MM-DD`). */
  readonly scopes: (day: string) => readonly BudgetScope[];
}

/** Which budget said no, with the numbers that the report shows too (work tokens). */
export interface Refusal {
  readonly scope: string;
  readonly label: string;
  readonly used: number;
  readonly held: number;
  readonly limit: number;
  /** What the refused call would have needed at least. */
  readonly needed: number;
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
  /** Makes `limitTokens` the new absolute cap of a scope. Waiting calls look again. */
  raise(scope: string, limitTokens: number): Promise<void>;
  stop(): Promise<void>;
}
