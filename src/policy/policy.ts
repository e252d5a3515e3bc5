import type { AskClass, Change, Decision, Operation, Verdict } from '../domain/decision.ts';
import type { RoleName } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Generator } from './generators.ts';

/** One glob as written, with the place where it stands (`policies/roles/coder.yaml:12:5`). */
export interface Rule {
  readonly glob: string;
  readonly origin: string;
}

export type TokenLimit = number | 'unlimited';
export type ToolGroup = 'read' | 'search' | 'edit' | 'write' | 'note' | 'run';
export type RunnerKind = 'builtin' | 'claude-code' | 'codex' | 'acp' | 'command';
export type Protocol = 'anthropic' | 'openai-chat' | 'openai-responses';

export interface RolePolicy {
  readonly role: RoleName;
  readonly aliases: readonly string[];
  readonly runner: RunnerKind;
  readonly key: { readonly kind: 'env'; readonly name: string } | { readonly kind: 'file'; readonly path: string };
  readonly model: {
    readonly protocol: Protocol;
    /** Undefined when `${ORCH_MODEL_X}` has no value yet; `start` names it. */
    readonly id: string | undefined;
    readonly temperature: number | undefined;
    readonly maxOutputTokens: number;
  };
  readonly write: readonly Rule[];
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly createOnly: readonly Rule[];
  readonly createOnlyElse: 'ask' | 'deny';
  readonly notDeny: readonly Rule[];
  readonly notWrite: readonly Rule[];
  readonly tools: readonly ToolGroup[];
  readonly run: { readonly allow: readonly string[]; readonly network: 'none' | 'host'; readonly timeoutMs: number };
  readonly writeMode: 'off' | 'dry-run' | 'staged' | 'direct';
  readonly budget: {
    readonly task: TokenLimit;
    readonly run: TokenLimit;
    readonly day: TokenLimit;
    /** 0.8 for `80%`. */
    readonly warnAt: number;
    readonly cacheReadWeight: number;
    readonly usdTask: number | undefined;
  };
  readonly limits: {
    readonly turns: number;
    readonly wallClockMs: number;
    readonly noProgressRounds: number;
    readonly identicalCalls: number;
    readonly changedLines: number;
    readonly changedFiles: number;
  };
}

export interface GlobalPolicy {
  readonly profile: string;
  readonly vars: Readonly<Record<string, readonly string[]>>;
  readonly inventory: string | undefined;
  readonly gateway: {
    /** Normalised root, undefined when `${ORCH_BASE_URL}` has no value yet. */
    readonly baseUrl: string | undefined;
    readonly pathStyle: 'auto' | 'raw';
    readonly retry: {
      readonly maxAttempts: number;
      readonly backoff: number;
      readonly jitter: 'full' | 'none';
      readonly respectRetryAfter: boolean;
    };
    readonly requestTimeoutMs: number;
    readonly maxInFlightPerKey: number;
  };
  readonly workspace: {
    readonly isolation: 'private' | 'shared';
    readonly slots: number;
    readonly setup: readonly string[];
    readonly copy: readonly string[];
  };
  readonly sandbox: { readonly mode: 'auto' | 'kernel' | 'detect-only'; readonly readOnly: readonly string[] };
  readonly pipeline: readonly RoleName[];
  readonly limits: {
    readonly runTokens: TokenLimit;
    readonly dayTokens: TokenLimit;
    readonly runWallClockMs: number;
    readonly commits: number;
    readonly netLines: number;
    readonly reviewRounds: number;
  };
  readonly checkpoints: { readonly plan: 'ask' | 'auto'; readonly merge: 'ask' | 'auto' };
  readonly never: readonly Rule[];
  readonly generated: {
    readonly fromGitattributes: boolean;
    readonly globs: readonly Rule[];
    readonly sources: readonly Generator[];
  };
  /** Shell command lines; undefined when there is none. `environment` is the gate that comes first. */
  readonly verify: {
    readonly environment: string | undefined;
    readonly quick: string | undefined;
    readonly full: string | undefined;
  };
  readonly allowSharedKey: boolean;
  readonly approvalPassphrase: 'required' | 'off';
}

/** The effective policy of a repository: all layers merged, variables expanded, every value checked. */
export interface PolicySet {
  /** sha256 hex over the effective policy; changes whenever any decision, budget or limit could. */
  readonly digest: string;
  readonly global: GlobalPolicy;
  readonly roles: ReadonlyMap<RoleName, RolePolicy>;
  readonly warnings: readonly Problem[];
  /** Every effective value with its origin, for `policy show`: dotted name -> {value, origin}. */
  readonly origins: ReadonlyMap<string, { readonly value: unknown; readonly origin: string }>;
}

export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly suggestion?: string;
}

/** The one matcher. Compiled once per policy digest; about a microsecond a call. */
export interface Decider {
  decide(role: RoleName, operation: Operation, path: RepoPath): Verdict;
  /** Whether any role may never touch this path (the list that is scanned for apart from ignore rules). */
  isNever(path: RepoPath): boolean;
  /** Directories (no trailing slash) that a role is denied as a whole by a static prefix glob `dir/**`, minus exceptions. */
  staticDenyDirectories(role: RoleName): readonly string[];
}

/** A judged change. `decision` is the stricter one of the path itself and, for a symlink, the path it resolves to. */
export interface JudgedChange extends Change {
  readonly decision: Decision;
  readonly rule: string | undefined;
  readonly origin: string | undefined;
  readonly askClass: AskClass | undefined;
  /** Set when something other than a glob decided: `absolute-symlink`, `escaping-symlink`, `gitlink`, `bad-mode`. */
  readonly special?: string;
}
