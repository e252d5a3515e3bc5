import type { Check } from '../../domain/check.ts';
import { escapeForDisplay } from '../../domain/escape.ts';
import { type Paint, paintFor } from '../../tui/paint.ts';
import type { Io } from '../io.ts';
import { printJson } from '../output/json.ts';
import { say } from '../output/say.ts';

/** One line a check; under what is wrong, why and what helps. */
export function printChecks(io: Io, checks: readonly Check[]): void {
  if (io.json) {
    printJson(io, { checks });
    return;
  }
  const paint = paintFor(io.color);
  const width = Math.max(...checks.map((check) => check.name.length));
  for (const check of checks) {
    if (io.quiet && check.level === 'ok') continue;
    const level = paint[TONES[check.level]](check.level.padEnd(LEVEL_WIDTH));
    io.stdout(`${level}  ${escapeForDisplay(`${check.name.padEnd(width)}  ${check.symptom}`)}\n`);
    if (check.cause !== null) say(io, `${INDENT}cause   ${escapeForDisplay(check.cause)}`);
    if (check.remedy !== null) say(io, `${INDENT}remedy  ${escapeForDisplay(check.remedy)}`);
  }
  say(io, summaryOf(checks));
}

const TONES = {
  ok: 'good',
  note: 'accent',
  warning: 'warning',
  error: 'bad',
} as const satisfies Record<Check['level'], keyof Paint>;
const LEVEL_WIDTH = 7;
const INDENT = ' '.repeat(LEVEL_WIDTH + 2);

function summaryOf(checks: readonly Check[]): string {
  const count = (level: Check['level'], word: string) => {
    const number = checks.filter((check) => check.level === level).length;
    return `${number} ${word}${number === 1 ? '' : 's'}`;
  };
  return `${count('error', 'error')}, ${count('warning', 'warning')}`;
}
