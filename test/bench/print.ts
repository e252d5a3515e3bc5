import { type Aim, type Figure, meets, type Row } from './measure.ts';

export function tableOf(rows: readonly Row[]): string {
  const head = ['', 'measured', 'baseline', 'ratio', 'aim', ''];
  const lines = rows.map((row) => [
    row.name,
    figureText(row.measured),
    row.baseline === undefined ? '' : `${row.baseline.what} ${figureText(row.baseline)}`,
    row.baseline === undefined ? '' : `× ${row.ratio.toFixed(2)}`,
    row.aim === undefined ? '' : aimText(row.aim),
    verdictOf(row),
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)));
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function verdictOf(row: Row): string {
  const met = meets(row);
  return met === undefined ? '' : met ? 'met' : 'MISSED';
}

function figureText({ median, unit }: Figure): string {
  return `${median.toFixed(median < 10 ? 2 : 0)} ${unit}`;
}

function aimText(aim: Aim): string {
  return 'atMost' in aim ? `≤ ${aim.atMost}` : `≥ ${aim.atLeast}`;
}
