import { messageOf } from '../domain/errors.ts';
import type { Clock } from '../domain/ids.ts';
import { workMilliTokens } from '../domain/usage.ts';
import type { NewEvent } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import type { GatewayLog } from './gateway-log.ts';
import type { Journal } from './journal.ts';
import { eventOrigin, type Hold, type OpenCall } from './open-call.ts';
import type { PriceOf } from './prices.ts';
import type { Spend } from './spend.ts';

/** One physical attempt, as it is kept for people. */
export interface AttemptRecord {
  readonly n: number;
  /** Undefined when no answer came. */
  readonly status: number | undefined;
  readonly outcome: string;
  readonly at: number;
}

/**
 * Settles calls. Exactly once: the row's state is the guard, so that a second settlement changes nothing. When the
 * ledger can't be written the settlement is kept and written before the next call is admitted.
 */
export interface Settlements {
  settle(call: OpenCall, spend: Spend, attempts: readonly AttemptRecord[]): Promise<void>;
  /** Writes what could not be written; rejects when it still can't. */
  flush(): Promise<void>;
}

export function createSettlements(parts: {
  journal: Journal;
  clock: Clock;
  prices: PriceOf;
  log: GatewayLog;
  onSettled: () => void;
}): Settlements {
  const unwritten = new Map<string, { rows: readonly Write[]; events: readonly NewEvent[] }>();

  async function write(id: string): Promise<void> {
    const batch = unwritten.get(id);
    if (batch === undefined) return;
    await parts.journal.commit(batch.rows, batch.events);
    unwritten.delete(id);
    parts.onSettled();
  }

  return {
    async settle(call, spend, attempts) {
      if (unwritten.has(call.id)) return;
      unwritten.set(call.id, settlementBatch({ call, spend, attempts, at: parts.clock.now(), prices: parts.prices }));
      try {
        await write(call.id);
      } catch (error) {
        parts.log.warn({ call: call.id, error: messageOf(error) }, 'a settlement waits: the ledger cannot be written');
      }
    },
    async flush() {
      for (const id of [...unwritten.keys()]) await write(id);
    },
  };
}

/** The rows and events of one settlement. */
function settlementBatch(options: {
  call: OpenCall;
  spend: Spend;
  attempts: readonly AttemptRecord[];
  at: number;
  prices: PriceOf;
}): { rows: readonly Write[]; events: readonly NewEvent[] } {
  const { call, spend, attempts, at } = options;
  const workMilli = workMilliTokens(spend.usage, call.grant.cacheReadWeight);
  const requests = attempts.filter((attempt) => attempt.status !== undefined).length;
  const usdMicros = costOf(options);
  const rows = [
    { statement: 'call-settle', params: settledRow({ ...options, workMilli, requests, usdMicros }), expectChanges: 1 },
    ...call.holds.map((hold) => ({
      statement: 'budget-settle',
      params: {
        scope: hold.scope,
        reserved_milli: hold.amount,
        spent_milli: spentOf(hold, { workMilli, usdMicros }),
      },
    })),
    ...attempts.map((attempt) => attemptWrite(call.id, attempt)),
  ];
  const data = {
    call: call.id,
    model: call.grant.model,
    source: spend.source,
    requests,
    ...spend.usage,
    workTokens: workMilli / 1000,
    estimated: spend.estimatedTokens,
  };
  const origin = { at, ...eventOrigin(call.grant) };
  const settled: NewEvent = { ...origin, type: 'call-settled', data };
  const over: NewEvent = {
    ...origin,
    type: 'call-over-reserved',
    data: { call: call.id, reserved: call.reservedMilli / 1000, spent: workMilli / 1000 },
  };
  const short: NewEvent = {
    ...origin,
    type: 'call-clamped-short',
    data: { call: call.id, cap: call.outputCap, asked: call.clampedFrom ?? call.outputCap },
  };
  return {
    rows,
    events: [
      settled,
      ...(workMilli > call.reservedMilli ? [over] : []),
      ...(spend.isCutByCap && call.clampedFrom !== undefined ? [short] : []),
    ],
  };
}

/** Undefined when the price is unknown. */
function costOf(options: { call: OpenCall; spend: Spend; at: number; prices: PriceOf }): number | undefined {
  const { call, spend, at } = options;
  if (Object.values(spend.usage).every((count) => count === 0)) return 0;
  return options.prices({ model: call.grant.model, protocol: call.protocol, usage: spend.usage, at });
}

/** A price that is unknown all at once keeps what was reserved for it. */
function spentOf(hold: Hold, spent: { workMilli: number; usdMicros: number | undefined }): number {
  switch (hold.unit) {
    case 'tokens':
      return spent.workMilli;
    case 'usd':
      return spent.usdMicros ?? hold.amount;
  }
}

export function attemptWrite(call: string, attempt: AttemptRecord): Write {
  const { n, status, outcome, at } = attempt;
  return { statement: 'call-attempt-insert', params: { call, n, status: status ?? null, outcome, at } };
}

function settledRow(options: {
  call: OpenCall;
  spend: Spend;
  at: number;
  workMilli: number;
  usdMicros: number | undefined;
  requests: number;
}): Write['params'] {
  const { call, spend } = options;
  const { usage } = spend;
  return {
    id: call.id,
    state: 'settled',
    requests: options.requests,
    input: usage.input,
    cache_read: usage.cacheRead,
    cache_write_5m: usage.cacheWrite5m,
    cache_write_1h: usage.cacheWrite1h,
    output: usage.output,
    reasoning: usage.reasoning,
    work_milli: options.workMilli,
    estimated_tokens: spend.estimatedTokens,
    forfeit_tokens: 0,
    usd_micros: options.usdMicros ?? null,
    source: spend.source,
    settled_at: options.at,
  };
}
