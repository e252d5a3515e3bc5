import type { ObjectId, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';

export interface TaskHead {
  readonly task: TaskId;
  /** The commit of the task's last step. */
  readonly commit: ObjectId;
  readonly title: string;
}

export interface TaskConflict {
  readonly task: TaskId;
  /** The tasks whose changes collide with it; empty when it collides with the base (a target that moved). */
  readonly with: readonly TaskId[];
  readonly paths: readonly RepoPath[];
}

export interface MergedTasks {
  readonly result: ObjectId;
  /** In merge order; on a conflict those before it. */
  readonly merged: readonly TaskId[];
  readonly conflict?: TaskConflict;
}

/** Merges task heads one after the other in the store, forward where it can, and stops at the first conflict. */
export async function mergeTasks(options: {
  git: StoreGit;
  base: ObjectId;
  heads: readonly TaskHead[];
  author: { readonly name: string; readonly email: string };
  /** The whole message of a merge commit; see mergeMessage. */
  message: (head: TaskHead) => string;
  atMs: number;
}): Promise<MergedTasks> {
  const { git, base, author, message, atMs } = options;
  let result = base;
  const merged: TaskHead[] = [];
  for (const head of options.heads) {
    const contained = await git.isAncestor(head.commit, result);
    if (!contained && (await git.isAncestor(result, head.commit))) {
      result = head.commit;
    } else if (!contained) {
      const merge = await git.merge(result, head.commit);
      if (!merge.clean) {
        const others = await collidingWith(git, base, merged, head);
        return { result, merged: idsOf(merged), conflict: { task: head.task, with: others, paths: merge.paths } };
      }
      const parents = [result, head.commit];
      result = await git.commit({ tree: merge.tree, parents, message: message(head), author, atMs });
    }
    merged.push(head);
  }
  return { result, merged: idsOf(merged) };
}

/** Message of a task's merge commit; no Agent-Role, since no role wrote it. */
export function mergeMessage(run: RunId, head: TaskHead): string {
  return `Merge ${head.task}: ${oneLine(head.title)}\n\nOrchestrator-Run: ${run}\nOrchestrator-Task: ${head.task}\n`;
}

/** A title comes from an agent: a line break in it could forge a trailer. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

async function collidingWith(
  git: StoreGit,
  base: ObjectId,
  merged: readonly TaskHead[],
  head: TaskHead,
): Promise<readonly TaskId[]> {
  const pairwise: TaskHead[] = [];
  for (const other of merged) {
    if (!(await git.merge(other.commit, head.commit)).clean) pairwise.push(other);
  }
  if (pairwise.length > 0) return idsOf(pairwise);
  // No pair collides: either the base does, or only the sum of all.
  return (await git.merge(base, head.commit)).clean ? idsOf(merged) : [];
}

function idsOf(heads: readonly TaskHead[]): readonly TaskId[] {
  return heads.map((head) => head.task);
}
