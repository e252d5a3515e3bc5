export type CommandVerdict = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

/**
 * Whether one of `run.allow`'s patterns covers a command. A pattern is literal text where `*` is any run of characters
 * without white space and a trailing ` **` is an optional rest; `**` alone allows everything. Every other pattern
 * covers a single plain command only. It narrows tools; it is no boundary.
 */
export function isCommandAllowed(patterns: readonly string[], command: string): CommandVerdict {
  if (patterns.includes('**')) return { allowed: true };
  const text = command.trim();
  const active = shellSyntaxIn(text);
  if (active !== undefined) {
    return {
      allowed: false,
      reason: `the command holds ${active}; run.allow covers single plain commands, run them one by one`,
    };
  }
  if (patterns.some((pattern) => covers(pattern.trim(), text))) return { allowed: true };
  const listed = patterns.length === 0 ? 'run.allow is empty' : `run.allow has: ${patterns.join(' · ')}`;
  return { allowed: false, reason: `no pattern of run.allow covers this command; ${listed}` };
}

function covers(pattern: string, command: string): boolean {
  if (!pattern.endsWith(' **')) return matchesWildcard(pattern, command, false);
  return matchesWildcard(pattern.slice(0, -3).trimEnd(), command, true);
}

/** Table of reachable pattern positions, one row a character: no pattern can make it slow. */
function matchesWildcard(pattern: string, text: string, optionalRest: boolean): boolean {
  const symbols = [...pattern];
  let row = skipStars(symbols, new Set([0]));
  for (const char of text) {
    if (optionalRest && row.has(symbols.length) && /\s/u.test(char)) return true;
    const next = new Set<number>();
    for (const position of row) {
      const symbol = symbols[position];
      if (symbol === '*') {
        if (!/\s/u.test(char)) next.add(position);
      } else if (symbol === char) next.add(position + 1);
    }
    if (next.size === 0) return false;
    row = skipStars(symbols, next);
  }
  return row.has(symbols.length);
}

function skipStars(symbols: readonly string[], positions: Set<number>): Set<number> {
  // A Set visits what is added while it is walked.
  for (const position of positions) if (symbols[position] === '*') positions.add(position + 1);
  return positions;
}

/** What a shell would act on besides running one program, or undefined. Follows POSIX quoting; doubt counts as active. */
function shellSyntaxIn(command: string): string | undefined {
  let quote: '"' | "'" | undefined;
  for (let index = 0; index < command.length; index += 1) {
    const char = command.charAt(index);
    const next = command.charAt(index + 1);
    if (quote === "'") {
      if (char === "'") quote = undefined;
    } else if (char === '\\') {
      if (next === '\n' || next === '') return 'a line continuation';
      index += 1;
    } else if (char === '`') return 'a backquote';
    else if (char === '$' && next === '(') return '`$(`';
    else if (char === '"') quote = quote === '"' ? undefined : '"';
    else if (quote === undefined) {
      const active = activeOutsideQuotes(char, next, index === 0 ? ' ' : command.charAt(index - 1));
      if (active !== undefined) return active;
      if (char === "'") quote = "'";
    }
  }
  return quote === undefined ? undefined : 'a quote that does not close';
}

function activeOutsideQuotes(char: string, next: string, before: string): string | undefined {
  if (char === '\n' || char === '\r') return 'a newline';
  if (';&|<>'.includes(char)) return `\`${char}\``;
  // Some shells read $'…' with escapes of their own, and quotes after a comment sign do not count.
  if (char === '$' && (next === "'" || next === '"')) return '`$` before a quote';
  if (char === '#' && /\s/u.test(before)) return 'a comment';
  return undefined;
}
