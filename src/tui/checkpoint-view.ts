import type { Checkpoint } from '../domain/checkpoint.ts';
import { checkpointText } from '../domain/checkpoint-text.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { Paint } from './paint.ts';

/** The whole question without its diff: who, what, why, evidence, and what approve and reject will do. */
export function renderCheckpoint(checkpoint: Checkpoint, paint: Paint): string {
  const text = checkpointText(checkpoint);
  return [
    paint.strong(text.heading),
    ...text.lines.map((line) => `  ${paintLine(line, paint)}`),
    `  ${paint.good('approve:')} ${text.effects.approve}`,
    `  ${paint.bad('reject:')}  ${text.effects.reject}`,
    '',
  ].join('\n');
}

/** The exact diff, escaped, coloured by its first character; a line in its place when there is none. */
export function renderDiff(checkpoint: Checkpoint, paint: Paint): string {
  if (checkpoint.diff === undefined || checkpoint.diff === '')
    return `${paint.faint('no diff belongs to this checkpoint')}\n`;
  const lines = checkpoint.diff.replace(/\n$/, '').split('\n');
  return `${lines.map((line) => paintDiffLine(escapeForDisplay(line, { multiline: true }), paint)).join('\n')}\n`;
}

function paintLine(line: string, paint: Paint): string {
  if (line.startsWith('finding ')) return paint.warning(line);
  return /^\s*!/.test(line) ? paint.bad(line) : line;
}

function paintDiffLine(line: string, paint: Paint): string {
  if (line.startsWith('diff --git')) return paint.strong(line);
  if (line.startsWith('+++') || line.startsWith('---')) return paint.strong(line);
  if (line.startsWith('+')) return paint.good(line);
  if (line.startsWith('-')) return paint.bad(line);
  return line.startsWith('@@') ? paint.accent(line) : line;
}
