/** Rows as lines with aligned columns; the last column is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.min(Math.max(widths[column] ?? 0, cell.length), WIDEST_COLUMN);
    });
  }
  return rows
    .map((row) => {
      const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}

const WIDEST_COLUMN = 60;
