import type { Change } from '../domain/decision.ts';
import type { ObjectId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';

/** The tree of a workspace as the daemon hashed it with its own index. */
export interface Snapshot {
  readonly tree: ObjectId;
  /** Ignored or untracked paths that match the `never` list and were not there (or had other content) at the step's start. */
  readonly neverPaths: readonly RepoPath[];
  /**
   * Entries named `.git` below the top, also in disguise (`.GIT`, `git~1`), outside ignored directories: `sub/.git`. The
   * files around them are in `tree` like any others; `moveAside` takes the entry itself out.
   */
  readonly nestedRepositories: readonly RepoPath[];
}

export interface Owner {
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
  readonly attempt: number;
}

/**
 * Reused private trees. A slot is a repository of its own (own refs, index, stash, config; borrowed objects); its
 * ignored build products survive reuse. The daemon never runs git with the configuration of that tree.
 */
export interface WorkspacePool {
  /** Free slots right now. */
  readonly free: number;
  /**
   * A workspace whose files are those of `tree` and whose own git HEAD is `commit`, or undefined when no slot is free.
   * Throws OrchestratorError when the disk or git fails.
   */
  acquire(owner: Owner, start: { commit: ObjectId; tree: ObjectId }): Promise<Workspace | undefined>;
  /** Bytes on disk of all slots. */
  diskBytes(): Promise<number>;
}

export interface Workspace {
  readonly slot: string;
  /** Canonical absolute path of the private tree. */
  readonly root: string;
  /** Per-slot scratch directory for TMPDIR, emptied on acquire. */
  readonly scratch: string;
  /** Hashes the tree. Only reads the agent's files. Kept under a ref of the store until `gc`. */
  snapshot(): Promise<Snapshot>;
  /** Raw changes between two trees in the store, no rename detection. */
  changes(from: ObjectId, to: ObjectId): Promise<readonly Change[]>;
  /** Saves the given paths' change between two trees as a git patch; returns the file's path. */
  savePatch(options: { from: ObjectId; to: ObjectId; paths: readonly RepoPath[]; name: string }): Promise<string>;
  /** Makes the files of `paths` equal to those of `tree` (absent there means removed), never following links. */
  restore(tree: ObjectId, paths: readonly RepoPath[]): Promise<void>;
  /** Makes the whole tree equal to `tree`; ignored files stay. */
  resetTo(tree: ObjectId): Promise<void>;
  /** Moves an untracked path (a never-file, a nested repository) out of the tree into `staging/`; returns where. */
  moveAside(path: RepoPath, name: string): Promise<string>;
  /** Gives the slot back. The tree stays on disk until the slot is used again. */
  release(): Promise<void>;
}
