import type { Change } from '../domain/decision.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';

/**
 * The daemon's own object store: a bare repository in the state directory that borrows the user's objects, never the
 * reverse. Every command runs with an environment built from nothing, hooks, filters, fsmonitor, replace objects and
 * attributes off (security.md section 4 step 2). A git exit code that the caller can handle is a value; anything else
 * throws OrchestratorError naming the command.
 */
export interface StoreGit {
  /** Absolute path of the bare repository. */
  readonly directory: string;
  /** `objects` directories of the store and of the user's repository, for alternates and read-only binds. */
  readonly objectDirectories: readonly string[];
  resolve(revision: string): Promise<ObjectId | undefined>;
  treeOf(commit: ObjectId): Promise<ObjectId>;
  parentsOf(commit: ObjectId): Promise<readonly ObjectId[]>;
  isAncestor(ancestor: ObjectId, descendant: ObjectId): Promise<boolean>;
  /** `diff-tree -r -z --raw --no-renames`: bytes to RepoPath, nothing quoted. */
  diff(fromTree: ObjectId, toTree: ObjectId): Promise<readonly Change[]>;
  /** Patch text (`--binary --full-index --no-renames`, no textconv, no external diff) as bytes. */
  patch(fromTree: ObjectId, toTree: ObjectId, paths?: readonly RepoPath[]): Promise<Buffer>;
  /** Added and deleted lines per path; binary files count 0. */
  numstat(fromTree: ObjectId, toTree: ObjectId): Promise<readonly { path: RepoPath; added: number; deleted: number }[]>;
  /** All paths of a tree with mode and blob. */
  listTree(tree: ObjectId): Promise<readonly { path: RepoPath; mode: string; blob: ObjectId }[]>;
  /** The entry of one path, undefined when absent or a directory. */
  entry(tree: ObjectId, path: RepoPath): Promise<{ mode: string; blob: ObjectId } | undefined>;
  readBlob(blob: ObjectId): Promise<Buffer>;
  writeBlob(bytes: Buffer): Promise<ObjectId>;
  /** A tree equal to `tree` but with the given entries replaced (undefined removes). */
  withEntries(
    tree: ObjectId,
    entries: ReadonlyMap<RepoPath, { mode: string; blob: ObjectId } | undefined>,
  ): Promise<ObjectId>;
  commit(options: {
    tree: ObjectId;
    parents: readonly ObjectId[];
    message: string;
    author: { name: string; email: string };
    atMs: number;
  }): Promise<ObjectId>;
  /** Real merge of two commits without a work tree. Conflicts are a value; nothing is auto-resolved. */
  merge(
    ours: ObjectId,
    theirs: ObjectId,
  ): Promise<
    { readonly clean: true; readonly tree: ObjectId } | { readonly clean: false; readonly paths: readonly RepoPath[] }
  >;
  /** Paths that `.gitattributes` of this tree mark `linguist-generated`. */
  generatedPaths(tree: ObjectId): Promise<ReadonlySet<RepoPath>>;
  /** Creates, moves (only from `old`, when given) or deletes (`next` undefined) a ref of the store. False: CAS failed. */
  updateRef(ref: string, next: ObjectId | undefined, old?: ObjectId): Promise<boolean>;
  refs(prefix: string): Promise<ReadonlyMap<string, ObjectId>>;
  /** `fsck --strict` on a commit's new objects; the problems, empty when sound. */
  check(commit: ObjectId, known: readonly ObjectId[]): Promise<readonly string[]>;
  diskBytes(): Promise<number>;
}

/** The user's repository. Index, stash, hooks, config and the checked-out branch are never touched, except by `land`. */
export interface UserRepository {
  /** Canonical top of the work tree. */
  readonly root: string;
  /** Canonical common git directory. */
  readonly commonDirectory: string;
  readonly objectsDirectory: string;
  resolve(revision: string): Promise<ObjectId | undefined>;
  /** HEAD's commit and the checked-out branch as full ref name (undefined when detached). Throws `configuration` when there is no commit. */
  head(): Promise<{ commit: ObjectId; branch: string | undefined }>;
  /** Whether tracked files differ from HEAD, or untracked files exist that are not ignored. */
  dirtyPaths(): Promise<readonly RepoPath[]>;
  /** user.name and user.email as git would use them; undefined when git would refuse to commit. */
  author(): Promise<{ name: string; email: string } | undefined>;
  /** Branches that are checked out in any work tree, full ref names. */
  checkedOutBranches(): Promise<ReadonlySet<string>>;
  isPartialClone(): Promise<boolean>;
  isShallow(): Promise<boolean>;
  /** Copies the objects of `commit` (and history up to what is there) from the store into this repository. */
  importCommit(store: StoreGit, commit: ObjectId): Promise<void>;
  /** Compare-and-swap of a ref, hooks off. `old` is the zero id for "must not exist". False when the ref was elsewhere. */
  moveRef(ref: string, next: ObjectId, old: ObjectId): Promise<boolean>;
  deleteRef(ref: string): Promise<void>;
  /** Adds lines to `info/exclude` once. */
  exclude(lines: readonly string[]): Promise<void>;
  /** A commit of the uncommitted work (tracked and untracked, not ignored) on top of HEAD, made without touching the index. */
  captureWorkInProgress(store: StoreGit): Promise<ObjectId>;
}
