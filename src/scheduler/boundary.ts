import { contentKey } from '../checkpoints/grants.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Grant } from '../gate/gate.ts';
import type { JudgedChange } from '../policy/policy.ts';

/** A turn's changes by what has to happen with them. */
export interface SortedChanges {
  readonly allowed: readonly JudgedChange[];
  /** Decided `ask` and not text, without a grant: the step parks. */
  readonly asks: readonly JudgedChange[];
  readonly violations: readonly JudgedChange[];
  /** Allowed by themselves, but the other half of a rename that is not. */
  readonly halves: readonly JudgedChange[];
  /** The role's own notes, moved to the checkout's `agent-notes/`. */
  readonly notes: readonly JudgedChange[];
}

export function sortChanges(
  judged: readonly JudgedChange[],
  options: { grants: readonly Grant[]; notesTracked: boolean },
): SortedChanges {
  const sorted = {
    allowed: [] as JudgedChange[],
    asks: [] as JudgedChange[],
    violations: [] as JudgedChange[],
    notes: [] as JudgedChange[],
    halves: [] as JudgedChange[],
  };
  for (const change of judged) {
    sorted[classify(change, options)].push(change);
  }
  return undoOtherHalves(sorted);
}

/**
 * A rename is judged on both paths. When one half is not allowed the other is undone with it: a file that moved out of
 * the lane would otherwise be gone, and one that moved in would stay as a copy.
 */
function undoOtherHalves(sorted: SortedChanges): SortedChanges {
  const refused = [...sorted.violations, ...sorted.asks];
  const isOtherHalf = (change: JudgedChange): boolean =>
    refused.some(
      (half) =>
        (half.operation === 'create' && change.operation === 'delete' && half.newBlob === change.oldBlob) ||
        (half.operation === 'delete' && change.operation === 'create' && half.oldBlob === change.newBlob),
    );
  const halves = sorted.allowed.filter(isOtherHalf);
  return { ...sorted, allowed: sorted.allowed.filter((change) => !halves.includes(change)), halves };
}

/** `access` covers a path for the task; `content` exactly one content there. Nothing covers never and generated. */
export function isGranted(path: RepoPath, content: string | undefined, grants: readonly Grant[]): boolean {
  return grants.some((grant) => grant.path === path && (grant.kind === 'access' || grant.blob === content));
}

function classify(
  change: JudgedChange,
  options: { grants: readonly Grant[]; notesTracked: boolean },
): keyof SortedChanges {
  const granted = isGranted(change.path, contentKey(change), options.grants);
  if (change.special !== undefined) return 'violations';
  switch (change.decision) {
    case 'never':
    case 'generated':
      return 'violations';
    case 'deny':
    case 'out':
      return granted ? 'allowed' : 'violations';
    case 'ask':
      return granted || change.askClass === 'text' ? 'allowed' : 'asks';
    case 'write':
      return change.path.startsWith('agent-notes/') && !options.notesTracked ? 'notes' : 'allowed';
  }
}
