/**
 * Makes text from agents, paths and diffs safe to show: control, format (bidi, zero-width), line/paragraph separator,
 * private-use code points and lone surrogates become visible escapes. Newline and tab stay only when `multiline`.
 */
export function escapeForDisplay(text: string, options: { multiline?: boolean } = {}): string {
  return text.replace(HOSTILE, (char) => {
    if (options.multiline && (char === '\n' || char === '\t')) return char;
    const code = char.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
    if (char === '\n') return '\\n';
    if (char === '\t') return '\\t';
    if (char === '\r') return '\\r';
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** Text of an agent inside a text of ours: each of its lines is marked, so that none reads as one of ours. */
export function quoteLines(text: string): readonly string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => `  | ${escapeForDisplay(line)}`);
}

const HOSTILE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;
