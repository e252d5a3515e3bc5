import type { ObjectId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { ConflictKind } from '../domain/violation.ts';

/** Changed lines of the common base, first and last, counted from 1. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** What a running task has changed so far. */
export interface LiveChanges {
  /** Undefined for the human in the checkout. */
  readonly task: TaskId | undefined;
  /** A role, or `human`. */
  readonly role: string;
  /** Undefined ranges stand for the whole file: binary, created, deleted or not known. */
  readonly paths: ReadonlyMap<RepoPath, readonly LineRange[] | undefined>;
}

export interface FoundConflict {
  readonly kind: Extract<ConflictKind, 'overlap' | 'textual'>;
  readonly path: RepoPath;
  readonly tasks: readonly TaskId[];
  readonly roles: readonly string[];
}

/** Paths that two tasks change at once. Steps of one task follow each other and do not conflict. */
export function findOverlaps(live: readonly LiveChanges[]): readonly FoundConflict[] {
  return pairsOf(live).flatMap(([left, right]) =>
    [...left.paths]
      .filter(([path, ranges]) => right.paths.has(path) && rangesMeet(ranges, right.paths.get(path)))
      .map(([path]) => conflictOf('overlap', path, [left, right])),
  );
}

export interface LiveSnapshot {
  readonly task: TaskId;
  readonly role: string;
  /** A commit that wraps the snapshot's tree on top of the commit the task started from. */
  readonly commit: ObjectId;
}

export type MergeTrees = (
  ours: ObjectId,
  theirs: ObjectId,
) => Promise<{ readonly clean: true } | { readonly clean: false; readonly paths: readonly RepoPath[] }>;

/** Paths on which the merge of two tasks' snapshots fails. */
export async function findTextualConflicts(
  snapshots: readonly LiveSnapshot[],
  mergeTrees: MergeTrees,
): Promise<readonly FoundConflict[]> {
  const found: FoundConflict[] = [];
  for (const [left, right] of pairsOf(snapshots)) {
    const merged = await mergeTrees(left.commit, right.commit);
    if (merged.clean) continue;
    for (const path of merged.paths) found.push(conflictOf('textual', path, [left, right]));
  }
  return found;
}

interface Party {
  readonly task: TaskId | undefined;
  readonly role: string;
}

function pairsOf<Member extends Party>(members: readonly Member[]): [Member, Member][] {
  return members.flatMap((left, index) =>
    members
      .slice(index + 1)
      .filter((right) => right.task !== left.task)
      .map((right): [Member, Member] => [left, right]),
  );
}

function conflictOf(kind: FoundConflict['kind'], path: RepoPath, parties: readonly Party[]): FoundConflict {
  return {
    kind,
    path,
    tasks: parties.map((party) => party.task).filter((task) => task !== undefined),
    roles: parties.map((party) => party.role),
  };
}

/** Ranges that touch count as well: git merges neighbouring changes only as one. */
function rangesMeet(left: readonly LineRange[] | undefined, right: readonly LineRange[] | undefined): boolean {
  if (left === undefined || right === undefined) return true;
  return left.some((one) => right.some((other) => one.first <= other.last + 1 && other.first <= one.last + 1));
}
