import { escapeForDisplay } from '../../domain/escape.ts';
import { type Paint, paintFor } from '../../tui/paint.ts';
import type { Io } from '../io.ts';

/** A cell: text that is escaped here, and how it is painted once its width is known. */
export type Cell = string | { readonly text: string; readonly paint: keyof Paint };

/**
 * Prints aligned columns. The last column is cut to the terminal; nothing is cut when the output is no terminal, so
 * that a pipe gets everything.
 */
export function printTable(io: Io, header: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const paint = paintFor(io.color);
  const texts = rows.map((row) => row.map((cell) => escapeForDisplay(typeof cell === 'string' ? cell : cell.text)));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => (row[column] ?? '').length)),
  );
  io.stdout(`${paint.faint(joinCells(header, widths, io.columns))}\n`);
  texts.forEach((row, index) => {
    const cells = rows[index] ?? [];
    const painted = cutLast(row, widths, io.columns).map((text, column) => {
      const padded = column === row.length - 1 ? text : text.padEnd(widths[column] ?? 0);
      const cell = cells[column];
      return cell === undefined || typeof cell === 'string' ? padded : paint[cell.paint](padded);
    });
    io.stdout(`${painted.join('  ').trimEnd()}\n`);
  });
}

function joinCells(row: readonly string[], widths: readonly number[], columns: number): string {
  return cutLast(row, widths, columns)
    .map((text, column) => text.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}

const SHORTEST_LAST_COLUMN = 12;

function cutLast(row: readonly string[], widths: readonly number[], columns: number): readonly string[] {
  const before = widths.slice(0, row.length - 1).reduce((sum, width) => sum + width + 2, 0);
  const room = Math.max(SHORTEST_LAST_COLUMN, columns - before);
  const last = row[row.length - 1] ?? '';
  return last.length <= room ? row : [...row.slice(0, -1), `${last.slice(0, room - 1)}…`];
}
