import type { Io } from '../io.ts';

/** Prints a result for scripts: one JSON document. Code points that could play with a terminal become \u escapes. */
export function printJson(io: Io, value: unknown): void {
  const text = JSON.stringify(value, null, 2).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu, (char) =>
    char === '\n' ? char : escapeUnits(char),
  );
  io.stdout(`${text}\n`);
}

function escapeUnits(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
