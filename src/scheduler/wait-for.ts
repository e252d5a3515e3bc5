import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;

/** Looks until it is done or the time is over; the last look's value. Bounded by `timeoutMs`. */
export async function waitFor<Value>(options: {
  timeoutMs: number;
  look: () => { done: boolean; value: Value };
  /** Ends the waiting early; the asker has gone. */
  signal?: AbortSignal | undefined;
}): Promise<Value> {
  const rounds = Math.ceil(options.timeoutMs / POLL_MS);
  for (let round = 0; round < rounds; round++) {
    const seen = options.look();
    if (seen.done || options.signal?.aborted) return seen.value;
    await sleep(POLL_MS);
  }
  return options.look().value;
}
