import type { Change, Decision, Verdict } from '../domain/decision.ts';
import type { RoleName } from '../domain/ids.ts';
import { normalizeRepoPath, type RepoPath } from '../domain/path.ts';
import type { Decider, JudgedChange } from './policy.ts';

/**
 * Judges every change of a diff for one role. A symlink is judged at its own path and at the repository path that it
 * resolves to; the stricter decision holds. `linkTarget` gives the text of a new symlink's blob.
 */
export async function judgeChanges(input: {
  readonly changes: readonly Change[];
  readonly role: RoleName;
  readonly decider: Decider;
  readonly linkTarget: (change: Change) => Promise<string> | string;
}): Promise<readonly JudgedChange[]> {
  const judged: JudgedChange[] = [];
  for (const change of input.changes) {
    const own = input.decider.decide(input.role, change.operation, change.path);
    const special = specialMode(change);
    if (special !== undefined) judged.push(violation(change, own, special));
    else if (change.newMode !== SYMLINK) judged.push(withVerdict(change, own));
    else judged.push(judgeLink(change, { own, target: await input.linkTarget(change), ...input }));
  }
  return judged;
}

const SYMLINK = '120000';
const GITLINK = '160000';
const ABSENT = '000000';
const KNOWN_MODES: ReadonlySet<string> = new Set(['100644', '100755', SYMLINK, ABSENT]);

const STRICTNESS = { never: 0, generated: 1, deny: 2, out: 3, ask: 4, write: 5 } as const satisfies Record<
  Decision,
  number
>;

function specialMode(change: Change): string | undefined {
  if (change.oldMode === GITLINK || change.newMode === GITLINK) {
    const unchanged = change.oldMode === change.newMode && change.oldBlob === change.newBlob;
    return unchanged ? undefined : 'gitlink';
  }
  return KNOWN_MODES.has(change.newMode) ? undefined : 'bad-mode';
}

function judgeLink(
  change: Change,
  input: { readonly own: Verdict; readonly target: string; readonly role: RoleName; readonly decider: Decider },
): JudgedChange {
  const resolved = resolveLink(change.path, input.target);
  if (resolved.kind !== 'inside') return violation(change, input.own, resolved.kind);
  const there: Verdict =
    resolved.path === undefined
      ? { decision: 'out' }
      : input.decider.decide(input.role, change.operation, resolved.path);
  return withVerdict(change, stricter(input.own, there));
}

type Resolved =
  | { readonly kind: 'absolute-symlink' | 'escaping-symlink' }
  /** No path: the top of the repository itself. */
  | { readonly kind: 'inside'; readonly path: RepoPath | undefined };

function resolveLink(path: RepoPath, target: string): Resolved {
  if (target.startsWith('/') || /^[A-Za-z]:/u.test(target)) return { kind: 'absolute-symlink' };
  // `name/..` leads wherever `name` links to, which the text can't say; git and people write `..` in front only.
  if (target === '' || target.includes('\0') || /(^|\/)(?!\.{1,2}(\/|$))[^/]+\/+(\.\/+)*\.\.(\/|$)/u.test(target)) {
    return { kind: 'escaping-symlink' };
  }
  const parts = path.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return { kind: 'escaping-symlink' };
  }
  if (parts.length === 0) return { kind: 'inside', path: undefined };
  const normal = normalizeRepoPath(parts.join('/'));
  return normal === undefined ? { kind: 'escaping-symlink' } : { kind: 'inside', path: normal };
}

function stricter(first: Verdict, second: Verdict): Verdict {
  const difference = STRICTNESS[first.decision] - STRICTNESS[second.decision];
  if (difference !== 0) return difference < 0 ? first : second;
  return second.askClass === 'hard' ? second : first;
}

function violation(change: Change, own: Verdict, special: string): JudgedChange {
  const strictest = STRICTNESS[own.decision] < STRICTNESS.deny ? own : { decision: 'deny' as const };
  return { ...withVerdict(change, strictest), special };
}

function withVerdict(change: Change, verdict: Verdict): JudgedChange {
  return {
    ...change,
    decision: verdict.decision,
    rule: verdict.rule,
    origin: verdict.origin,
    askClass: verdict.askClass,
  };
}
