import { setTimeout as delay } from 'node:timers/promises';

export type Turn = 'send' | 'aborted' | 'too-long';

/**
 * After a 429 all calls of that real key wait, instead of each finding out for itself and using up its attempts; then
 * they start one after the other. A key that was never limited waits for nothing.
 */
export interface KeyPace {
  /** Resolves when the call may be sent, was aborted, or has waited longer than makes sense. */
  turn(key: string, signal: AbortSignal): Promise<Turn>;
  /** The key was limited: nothing is sent for it within `waitMs`. */
  cool(key: string, waitMs: number): void;
}

interface Lane {
  openAtMs: number;
  lastSentMs: number;
}

/** `nowMs` must not jump: only differences are used. */
export function createKeyPace(options: { nowMs: () => number; maxWaitMs: number }): KeyPace {
  const { nowMs } = options;
  const lanes = new Map<string, Lane>();
  return {
    async turn(key, signal) {
      const lane = lanes.get(key);
      if (lane === undefined) return signal.aborted ? 'aborted' : 'send';
      const latest = nowMs() + options.maxWaitMs;
      while (!signal.aborted) {
        const readyMs = Math.max(lane.openAtMs, lane.lastSentMs + APART_MS);
        if (readyMs <= nowMs()) {
          // Taken before anyone else looks: all who wait wake up together.
          lane.lastSentMs = nowMs();
          return 'send';
        }
        if (readyMs > latest) return 'too-long';
        await delay(Math.ceil(readyMs - nowMs()), undefined, { signal }).catch(() => undefined);
      }
      return 'aborted';
    },
    cool(key, waitMs) {
      const openAtMs = nowMs() + waitMs;
      const lane = lanes.get(key);
      if (lane === undefined) lanes.set(key, { openAtMs, lastSentMs: Number.NEGATIVE_INFINITY });
      else lane.openAtMs = Math.max(lane.openAtMs, openAtMs);
    },
  };
}

/** Between two calls of a key that was limited once: a burst would be limited again. */
const APART_MS = 100;
