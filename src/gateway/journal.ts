import { eventWrite, type NewEvent } from '../store/events.ts';
import type { Store, Write, WriteOutcome } from '../store/store.ts';

/** Writes rows and their events in one transaction, then tells the listener. */
export interface Journal {
  commit(rows: readonly Write[], events: readonly NewEvent[]): Promise<WriteOutcome>;
}

export function createJournal(store: Store, onEvent: (event: NewEvent) => void): Journal {
  return {
    async commit(rows, events) {
      const outcome = await store.write([...rows, ...events.map(eventWrite)]);
      if (outcome.committed) for (const event of events) onEvent(event);
      return outcome;
    },
  };
}
