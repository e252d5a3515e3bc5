import type { Clock } from '../domain/ids.ts';
import type { Store, Write } from '../store/store.ts';

/** The UTC day that spending counts in: the day of the latest time ever seen, so that it never goes backwards. */
export interface DayWindow {
  /** `YYYY-MM-DD`, with the write that makes it last; put it into the batch that uses the day. */
  today(): { readonly day: string; readonly write: Write };
}

export function createDayWindow(store: Store, clock: Clock): DayWindow {
  let latest = String(store.read('ledger-day-get')[0]?.['value'] ?? '');
  return {
    today() {
      const day = new Date(clock.now()).toISOString().slice(0, 10);
      if (day > latest) latest = day;
      return { day: latest, write: { statement: 'ledger-day-advance', params: { day: latest } } };
    },
  };
}
