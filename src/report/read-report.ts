import type { Report, ReportBy } from '../api/backend.ts';
import type { Row, Store } from '../store/store.ts';
import { type CallRow, reportRows } from './rows.ts';

/** The usage report over every settled call since a time (milliseconds; everything when absent). */
export function readReport(store: Store, request: { by: ReportBy; since?: number | undefined }): Report {
  const rows = store.read('calls-for-report', { since: request.since ?? 0 });
  return reportRows(rows.map(callRow), request.by);
}

function callRow(row: Row): CallRow {
  const number = (name: string) => Number(row[name] ?? 0);
  const optional = (name: string) => (row[name] === null ? undefined : row[name]);
  const text = (name: string) => (optional(name) === undefined ? undefined : String(row[name]));
  return {
    run: text('run'),
    task: text('task'),
    role: String(row['role']),
    model: String(row['model']),
    day: String(row['day']),
    requests: number('requests'),
    input: number('input'),
    cacheRead: number('cache_read'),
    cacheWrite: number('cache_write_5m') + number('cache_write_1h'),
    output: number('output'),
    reasoning: number('reasoning'),
    workMilli: number('work_milli'),
    estimated: number('estimated_tokens'),
    forfeit: number('forfeit_tokens'),
    usdMicros: optional('usd_micros') === undefined ? undefined : number('usd_micros'),
  };
}
