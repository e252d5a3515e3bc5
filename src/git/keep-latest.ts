/**
 * Remembers the latest answers about objects: what an id names never changes, and the same few are asked about at every
 * turn. Failures are asked about again.
 */
export function keepLatest<Id, Answer>(limit: number, read: (id: Id) => Promise<Answer>): (id: Id) => Promise<Answer> {
  const kept = new Map<Id, Promise<Answer>>();
  return (id) => {
    const known = kept.get(id) ?? read(id);
    kept.delete(id);
    kept.set(id, known);
    const [oldest] = kept.keys();
    if (kept.size > limit && oldest !== undefined) kept.delete(oldest);
    known.catch(() => kept.delete(id));
    return known;
  };
}
