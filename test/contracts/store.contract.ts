import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventWrite, readEvents } from '../../src/store/events.ts';
import type { Store } from '../../src/store/store.ts';

/** What every adapter of the Store port must hold. `open` gives an empty store. */
export function storeContract(name: string, open: () => Promise<{ store: Store; dispose(): Promise<void> }>): void {
  describe(`store contract: ${name}`, () => {
    let store: Store;
    let dispose: () => Promise<void>;
    beforeEach(async () => {
      ({ store, dispose } = await open());
    });
    afterEach(() => dispose());

    const event = (type: string) => eventWrite({ at: 5, type, run: 'r-1', data: { nested: ['é'] } });
    const types = () => readEvents(store, 0, 1000).map((row) => row.type);

    test('a read sees every batch that has resolved', async () => {
      expect(await store.write([event('first'), event('second')])).toEqual({ committed: true, changes: [1, 1] });
      expect(readEvents(store, 0, 10)).toEqual([
        { seq: 1, at: 5, type: 'first', run: 'r-1', task: null, role: null, agent: null, data: { nested: ['é'] } },
        { seq: 2, at: 5, type: 'second', run: 'r-1', task: null, role: null, agent: null, data: { nested: ['é'] } },
      ]);
      expect(readEvents(store, 1, 10).map((row) => row.type)).toEqual(['second']);
      expect(readEvents(store, 0, 1)).toHaveLength(1);
    });

    test('a guard that does not hold rolls back its own batch and no other', async () => {
      const outcomes = await Promise.all([
        store.write([event('before')]),
        store.write([event('gone'), { ...event('gone too'), expectChanges: 2 }]),
        store.write([event('after')]),
      ]);
      expect(outcomes).toEqual([
        { committed: true, changes: [1] },
        { committed: false, failedAt: 1 },
        { committed: true, changes: [1] },
      ]);
      expect(types()).toEqual(['before', 'after']);
    });

    test('batches are applied in the order in which they were given', async () => {
      await Promise.all(Array.from({ length: 300 }, (_, index) => store.write([event(`e${index}`)])));
      expect(types()).toEqual(Array.from({ length: 300 }, (_, index) => `e${index}`));
    });

    test('a wrong batch rejects alone, names what is wrong, and writing goes on', async () => {
      const incomplete = { statement: 'event-insert', params: { at: 1 } };
      const badValue = { statement: 'event-insert', params: { ...event('x').params, at: 'yesterday' } };
      const results = await Promise.allSettled([
        store.write([event('gone'), incomplete]),
        store.write([event('gone'), badValue]),
        store.write([event('gone'), { statement: 'no-such-statement', params: {} }]),
        store.write([event('kept')]),
      ]);
      expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled']);
      expect(String((results[0] as PromiseRejectedResult).reason)).toMatch(/:type is missing/);
      expect(String((results[2] as PromiseRejectedResult).reason)).toMatch(/no-such-statement/);
      expect(types()).toEqual(['kept']);
      expect(() => store.read('events-after', { after: 0, limit: 1, extra: 1 })).toThrow(/:extra does not occur/);
    });

    test('close commits what is queued and refuses the rest', async () => {
      const queued = store.write([event('queued')]);
      await store.close();
      expect(await queued).toEqual({ committed: true, changes: [1] });
      await expect(store.write([event('late')])).rejects.toThrow(/closed/);
    });
  });
}
