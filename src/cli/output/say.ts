import { escapeForDisplay } from '../../domain/escape.ts';
import type { Io } from '../io.ts';

/** A line of a result, for people, on stdout. Escaped. */
export function say(io: Io, text: string): void {
  io.stdout(`${escapeForDisplay(text, { multiline: true })}\n`);
}

/** Progress and hints, on stderr; silent with -q. Escaped. */
export function mention(io: Io, text: string): void {
  if (!io.quiet) io.stderr(`${escapeForDisplay(text, { multiline: true })}\n`);
}
