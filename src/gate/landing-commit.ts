import type { ObjectId, RunId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import { oneLine } from './merge-tasks.ts';
import { nameProblems } from './names.ts';

export interface LandingInput {
  readonly git: StoreGit;
  readonly run: RunId;
  /** Subject of a commit that has to be made. */
  readonly title: string;
  /** Where the branch stands; undefined when it is to be created. */
  readonly tip: ObjectId | undefined;
  readonly result: ObjectId;
  /** The run's base; the parent of a squashed commit on a new branch. */
  readonly base: ObjectId;
  readonly squash: boolean;
  readonly author: { readonly name: string; readonly email: string };
  readonly atMs: number;
}

export type LandingCommit =
  | { readonly kind: 'contained' }
  /** The tree is the result's own, which was verified before the merge checkpoint. */
  | { readonly kind: 'same-tree'; readonly commit: ObjectId }
  /** A new combination that nobody has verified yet. */
  | { readonly kind: 'merged'; readonly commit: ObjectId }
  | { readonly kind: 'conflict'; readonly paths: readonly RepoPath[] }
  /** The merge is clean but would do what nobody approved; one line a path. */
  | { readonly kind: 'strayed'; readonly reasons: readonly string[] };

/** The commit that a branch at `tip` is to be moved to, made in the daemon's store; the user's repository is only read. */
export async function makeLandingCommit(input: LandingInput): Promise<LandingCommit> {
  const { git, tip, result, squash } = input;
  if (tip === undefined || (await git.isAncestor(tip, result))) {
    if (tip === result) return { kind: 'contained' };
    if (!squash) return { kind: 'same-tree', commit: result };
    const commit = await commitTree(input, await git.treeOf(result), [tip ?? input.base]);
    return { kind: 'same-tree', commit };
  }
  if (await git.isAncestor(result, tip)) return { kind: 'contained' };
  const merge = await git.merge(tip, result);
  if (!merge.clean) return { kind: 'conflict', paths: merge.paths };
  if (merge.tree === (await git.treeOf(tip))) return { kind: 'contained' };
  const reasons = await strayedPaths(input, tip, merge.tree);
  if (reasons.length > 0) return { kind: 'strayed', reasons };
  return { kind: 'merged', commit: await commitTree(input, merge.tree, squash ? [tip] : [tip, result]) };
}

/**
 * A branch that moved can carry a change to a path that the run never touched (it renamed the file), or bring a name
 * that collides with a new one: the same checks as the gate's on the result (security.md L9, section 4 step 6).
 */
async function strayedPaths(input: LandingInput, tip: ObjectId, merged: ObjectId): Promise<readonly string[]> {
  const { git, base, result } = input;
  const own = new Set((await git.diff(await git.treeOf(base), await git.treeOf(result))).map(({ path }) => path));
  const changes = await git.diff(await git.treeOf(tip), merged);
  const created = changes.filter(({ operation }) => operation === 'create').map(({ path }) => path);
  const paths = (await git.listTree(merged)).map(({ path }) => path);
  return [
    ...changes.filter(({ path }) => !own.has(path)).map(({ path }) => `${path}: the run did not change this path`),
    ...nameProblems(paths, new Set(created)).map(({ path, reason }) => `${path}: ${reason}`),
  ];
}

async function commitTree(input: LandingInput, tree: ObjectId, parents: readonly ObjectId[]): Promise<ObjectId> {
  const { git, run, title, squash, author, atMs } = input;
  const subject = squash ? oneLine(title) : `Merge ${run}: ${oneLine(title)}`;
  return git.commit({ tree, parents, message: `${subject}\n\nOrchestrator-Run: ${run}\n`, author, atMs });
}
