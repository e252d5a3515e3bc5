import type { RepoPath } from '../domain/path.ts';

/** State of the user's checkout at one moment: each path that differs from HEAD, with something that tells its content. */
export type CheckoutState = ReadonlyMap<RepoPath, string>;

export interface CheckoutChange {
  readonly path: RepoPath;
  readonly kind: 'appeared' | 'changed' | 'cleared';
}

/** What happened in the checkout between two looks at it. `cleared` is a path that equals HEAD again. */
export function checkoutChanges(before: CheckoutState, after: CheckoutState): readonly CheckoutChange[] {
  const changes: CheckoutChange[] = [];
  for (const [path, content] of after) {
    const earlier = before.get(path);
    if (earlier === undefined) changes.push({ path, kind: 'appeared' });
    else if (earlier !== content) changes.push({ path, kind: 'changed' });
  }
  for (const path of before.keys()) if (!after.has(path)) changes.push({ path, kind: 'cleared' });
  return changes;
}
