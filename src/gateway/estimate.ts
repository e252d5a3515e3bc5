import type { Usage } from '../domain/usage.ts';

/** The size of a request's input, as far as it can be seen before the call. */
export interface InputSize {
  /** Body bytes without inline binary data. */
  readonly textBytes: number;
  readonly mediaTokens: number;
}

/** The last call of a conversation: what was sent and what the upstream said it was. */
export interface LastActual extends InputSize {
  readonly usage: Usage;
  readonly at: number;
}

/**
 * Work tokens of input to reserve: last actual + new bytes ÷ 2.2, or bytes ÷ 2.5 for a first call and after the body
 * shrank (facts/gateway.md D.2). What the last call read from or wrote to the cache counts with the weight of cache
 * reads while the cache surely lives; otherwise a long conversation would be refused at a fraction of its budget.
 */
export function estimateInput(options: Expected & { cacheReadWeight: number }): number {
  const { fresh, cached } = expectInput(options);
  return Math.ceil(fresh + cached * options.cacheReadWeight);
}

interface Expected {
  readonly size: InputSize;
  readonly last: LastActual | undefined;
  readonly now: number;
}

/** The tokens of input to come: what is surely read from the cache, and what may be of any class. */
export function expectInput({ size, last, now }: Expected): { readonly fresh: number; readonly cached: number } {
  if (last === undefined || size.textBytes < last.textBytes) {
    return { fresh: Math.ceil(size.textBytes / FIRST_BYTES_PER_TOKEN) + size.mediaTokens, cached: 0 };
  }
  const { input, cacheRead, cacheWrite5m, cacheWrite1h } = last.usage;
  const cached = cacheRead + cacheWrite5m + cacheWrite1h;
  const isCacheAlive = now >= last.at && now - last.at < CACHE_ALIVE_MS;
  const added =
    (size.textBytes - last.textBytes) / NEW_BYTES_PER_TOKEN + Math.max(0, size.mediaTokens - last.mediaTokens);
  return isCacheAlive ? { fresh: input + added, cached } : { fresh: input + cached + added, cached: 0 };
}

/** Tokens of model output that was seen but not counted by the upstream; on the high side. */
export function estimateOutput(streamedBytes: number): number {
  return Math.ceil(streamedBytes / NEW_BYTES_PER_TOKEN);
}

const FIRST_BYTES_PER_TOKEN = 2.5;
const NEW_BYTES_PER_TOKEN = 2.2;
/** Below the five minutes that the shortest cache lives. */
const CACHE_ALIVE_MS = 4 * 60_000;

/** Remembers the last actual of each conversation. */
export interface EstimateBook {
  last(conversation: string): LastActual | undefined;
  remember(conversation: string, actual: LastActual): void;
}

export function createEstimateBook(): EstimateBook {
  const actuals = new Map<string, LastActual>();
  return {
    last: (conversation) => actuals.get(conversation),
    remember(conversation, actual) {
      actuals.delete(conversation);
      actuals.set(conversation, actual);
      const oldest = actuals.keys().next();
      if (actuals.size > MAX_CONVERSATIONS && !oldest.done) actuals.delete(oldest.value);
    },
  };
}

const MAX_CONVERSATIONS = 1000;
