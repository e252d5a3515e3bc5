import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;

/** Looks until it is done or the time is over; the last look's value. Bounded by `timeoutMs`. */
export async function waitFor<Value>(options: {
  timeoutMs: number;
  look: () => { done: boolean; value: Value };
}): Promise<Value> {
  const rounds = Math.ceil(options.timeoutMs / POLL_MS);
  for (let round = 0; round < rounds; round++) {
    const seen = options.look();
    if (seen.done) return seen.value;
    await sleep(POLL_MS);
  }
  return options.look().value;
}
