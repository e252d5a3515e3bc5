import type { Report, ReportRow } from '../api/backend.ts';

/** The report as CSV (RFC 4180), total last. An unknown price is `?`. */
export function reportCsv(report: Report): string {
  const header = [report.by, ...FIELDS];
  const lines = [...report.rows, report.total].map((row) => [
    row.key,
    ...FIELDS.map((field) => (field === 'usd' ? (row.usd ?? '?') : row[field])),
  ]);
  return [header, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

const FIELDS = [
  'requests',
  'input',
  'cacheWrite',
  'cacheRead',
  'output',
  'reasoning',
  'workTokens',
  'usd',
  'unpriced',
  'estimated',
  'forfeit',
] as const satisfies readonly (keyof ReportRow)[];

/** A text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) && value !== '-' ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
