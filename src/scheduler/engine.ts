import type { Runner } from '../agents/runner.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { Clock, ObjectId, RandomText, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { Run } from '../domain/run.ts';
import type { Gate } from '../gate/gate.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { StoreGit, UserRepository } from '../git/git.ts';
import type { Decider, PolicySet, RolePolicy } from '../policy/policy.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Store, Write } from '../store/store.ts';
import type { Watcher } from '../watch/watch.ts';
import type { WorkspacePool } from '../workspace/workspace.ts';
import type { RunClock } from './run-clock.ts';

/** The parts that the scheduler acts through; built once in daemon.ts. */
export interface Engine {
  readonly store: Store;
  readonly git: StoreGit;
  readonly user: UserRepository;
  readonly pool: WorkspacePool;
  readonly sandbox: Sandbox;
  readonly gateway: Gateway;
  readonly checkpoints: Checkpoints;
  readonly gate: Gate;
  readonly watcher: Watcher;
  readonly policies: PolicyBook;
  readonly runners: Readonly<Partial<Record<RolePolicy['runner'], Runner>>>;
  readonly clock: Clock;
  /** Monotonic, stands still while the machine is suspended; for wall-clock limits. */
  readonly workClock: Clock;
  readonly runClock: RunClock;
  readonly random: RandomText;
  readonly log: Log;
  readonly paths: EnginePaths;
  /** Read-only binds that every view needs: toolchains, the package, object stores. */
  readonly toolchains: readonly string[];
  readonly hidden: readonly string[];
  /** The user's environment, for `land` alone (filters may need PATH and HOME). */
  readonly userEnvironment: Readonly<Record<string, string | undefined>>;
  /** PATH and locale for commands in views. */
  readonly commandEnvironment: Readonly<Record<string, string>>;
  readonly versions: { readonly orchestrator: string; readonly node: string; readonly git: string };
  readonly live: LiveTrees;
  readonly lookouts: {
    open(root: string, look: () => Promise<void>): void;
    close(root: string): void;
  };
}

export interface EnginePaths {
  readonly state: string;
  readonly runs: string;
  readonly homes: string;
  readonly notesBackup: string;
  /** The files of the active policy, as they were when they were loaded. */
  readonly policies: string;
}

export interface Log {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** Which policy holds: the active one for new runs and merges, the pinned one for a run's steps. */
export interface PolicyBook {
  active(): PolicySet;
  /** The policy a run began with, from the copy in its directory. */
  pinned(run: Run): PolicySet;
  /** Layer 3: `policies/agents/<name>.yaml` of the run's copy over the role's policy; names are `T2-coder`, `0042`. */
  forAgent(run: Run, name: string, policy: RolePolicy): RolePolicy;
  decider(set: PolicySet, baseTree: ObjectId): Promise<Decider>;
  /** The real key of a role; throws `configuration` naming the variable when it is gone. */
  key(policy: RolePolicy): string;
  reload(): Promise<{ digest: string; warnings: string[] }>;
}

/** What running tasks have changed so far, kept in memory; the truth is in the store's snapshots. */
export interface LiveTrees {
  update(tree: LiveTree): Promise<void>;
  remove(key: { run: RunId; task: TaskId }): void;
  all(run: RunId): readonly LiveTree[];
}

export interface LiveTree {
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
  readonly baseTree: ObjectId;
  readonly tree: ObjectId;
}

/** Writes or throws: a guard that does not hold here is a bug, since one dispatcher owns these rows. */
export async function commit(store: Store, writes: readonly Write[]): Promise<void> {
  const outcome = await store.write(writes);
  if (!outcome.committed) {
    throw new Error(`the store rolled a batch back at statement ${writes[outcome.failedAt]?.statement ?? '?'}`);
  }
}
