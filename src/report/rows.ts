import type { Report, ReportBy, ReportRow } from '../api/backend.ts';

/** One settled call, as far as the usage report needs it. */
export interface CallRow {
  readonly run: string | undefined;
  readonly task: string | undefined;
  readonly role: string;
  readonly model: string;
  /** `YYYY-MM-DD` in UTC: the window of its reservation. */
  readonly day: string;
  readonly requests: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
  readonly workMilli: number;
  /** Tokens of this call that nobody stated; already inside the sums. */
  readonly estimated: number;
  /** Tokens charged in full for a call whose end was never seen; already inside the sums. */
  readonly forfeit: number;
  /** Millionths of a dollar; undefined when the price is unknown. */
  readonly usdMicros: number | undefined;
}

/** Adds calls up by one of their properties, sorted by its name. */
export function reportRows(calls: readonly CallRow[], by: ReportBy): Report {
  const groups = Map.groupBy(calls, (call) => keyOf(call, by));
  const rows = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, group]) => addUp(key, group));
  const total = addUp('total', calls);
  return { by, rows, total, notes: notesOf(total) };
}

function keyOf(call: CallRow, by: ReportBy): string {
  switch (by) {
    case 'role':
      return call.role;
    case 'model':
      return call.model;
    case 'day':
      return call.day;
    case 'run':
      return call.run ?? OUTSIDE;
    case 'task':
      return call.run === undefined ? OUTSIDE : `${call.run}/${call.task ?? OUTSIDE}`;
  }
}

/** Calls of no run: `doctor` and the like. */
const OUTSIDE = '-';

function addUp(key: string, calls: readonly CallRow[]): ReportRow {
  const sum = (of: (call: CallRow) => number) => calls.reduce((total, call) => total + of(call), 0);
  const priced = calls.filter((call) => call.usdMicros !== undefined);
  const unpriced = calls.length - priced.length;
  return {
    key,
    requests: sum((call) => call.requests),
    input: sum((call) => call.input),
    cacheWrite: sum((call) => call.cacheWrite),
    cacheRead: sum((call) => call.cacheRead),
    output: sum((call) => call.output),
    reasoning: sum((call) => call.reasoning),
    workTokens: sum((call) => call.workMilli) / 1000,
    usd: priced.length === 0 && unpriced > 0 ? null : sum((call) => call.usdMicros ?? 0) / 1e6,
    unpriced,
    estimated: sum((call) => call.estimated),
    forfeit: sum((call) => call.forfeit),
  };
}

function notesOf(total: ReportRow): string[] {
  const notes: string[] = [];
  if (total.unpriced > 0) notes.push(`? : the price of ${total.unpriced} call(s) is unknown and in no sum of money.`);
  if (total.estimated > 0) {
    notes.push(`estimated: ${total.estimated} tokens of calls that ended without a stated usage, inside the sums.`);
  }
  if (total.forfeit > 0) {
    notes.push(
      `forfeit: ${total.forfeit} tokens of calls in flight when the daemon died, charged in full, inside the sums.`,
    );
  }
  return notes;
}
