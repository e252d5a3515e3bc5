import type { ObjectId } from '../domain/ids.ts';
import type { TreeEntry } from './trees.ts';

type List = (tree: ObjectId) => Promise<readonly TreeEntry[]>;

/** Base and current trees of what runs at one time; a large repository has megabytes of entries. */
const KEPT = 6;

/** Keeps the latest listings: a tree never changes, and the same few are asked for at every turn. */
export function keepTreeLists(list: List): List {
  const kept = new Map<ObjectId, Promise<readonly TreeEntry[]>>();
  return (tree) => {
    const known = kept.get(tree) ?? list(tree);
    kept.delete(tree);
    kept.set(tree, known);
    const [oldest] = kept.keys();
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    known.catch(() => kept.delete(tree));
    return known;
  };
}
