import type { Report, ReportRow } from '../api/backend.ts';
import { escapeForDisplay } from '../domain/escape.ts';

/** The report for a terminal: aligned columns, a total, and notes on what is uncertain. */
export function reportTable(report: Report): string {
  const header = [report.by, ...COLUMNS.map((column) => column.title)];
  const body = [...report.rows, report.total].map((row) => [
    escapeForDisplay(row.key),
    ...COLUMNS.map((column) => column.show(row)),
  ]);
  const widths = header.map((title, index) =>
    Math.max(title.length, ...body.map((cells) => cells[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd();
  const rule = '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2));
  const lines = [line(header), rule, ...body.slice(0, -1).map(line), rule, line(body.at(-1) ?? [])];
  return [...lines, ...report.notes].map((text) => `${text}\n`).join('');
}

/** `?` when nothing of it has a known price, `$1.20+?` when a part has none; unknown is never shown as 0. */
export function shownUsd(row: ReportRow): string {
  if (row.usd === null) return '?';
  return `$${row.usd.toFixed(row.usd > 0 && row.usd < 0.1 ? 4 : 2)}${row.unpriced > 0 ? '+?' : ''}`;
}

const count = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 1 });

const COLUMNS: readonly { readonly title: string; readonly show: (row: ReportRow) => string }[] = [
  { title: 'requests', show: (row) => count(row.requests) },
  { title: 'input', show: (row) => count(row.input) },
  { title: 'cache write', show: (row) => count(row.cacheWrite) },
  { title: 'cache read', show: (row) => count(row.cacheRead) },
  { title: 'output', show: (row) => count(row.output) },
  { title: 'reasoning', show: (row) => count(row.reasoning) },
  { title: 'work tokens', show: (row) => count(row.workTokens) },
  { title: 'cost', show: shownUsd },
  { title: 'estimated', show: (row) => count(row.estimated) },
  { title: 'forfeit', show: (row) => count(row.forfeit) },
];
