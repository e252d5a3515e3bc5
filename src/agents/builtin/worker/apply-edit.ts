/**
 * Exact replacement in a text that keeps every byte outside of what is replaced. Texts are compared as they are but
 * for line endings: `\n` in `oldText` also matches `\r\n`, and `\n` in `newText` becomes what stood in that place.
 */
export function applyEdit(
  content: string,
  edit: { oldText: string; newText: string; replaceAll: boolean },
): EditResult {
  const matches = findMatches(content, edit.oldText);
  if (matches.length === 0) return { kind: 'none', nearest: nearestLines(content, edit.oldText) };
  if (matches.length > 1 && !edit.replaceAll) {
    return { kind: 'several', lines: matches.map((match) => lineAt(content, match.start)) };
  }
  const chosen = withoutOverlaps(matches);
  let result = '';
  let end = 0;
  for (const match of chosen) {
    const old = content.slice(match.start, match.end);
    result += content.slice(end, match.start) + withLocalEndings(edit.newText, { old, content, at: match });
    end = match.end;
  }
  return { kind: 'edited', content: result + content.slice(end), replaced: chosen.length };
}

export type EditResult =
  | { readonly kind: 'edited'; readonly content: string; readonly replaced: number }
  | { readonly kind: 'none'; readonly nearest: readonly number[] }
  | { readonly kind: 'several'; readonly lines: readonly number[] };

interface Match {
  readonly start: number;
  readonly end: number;
}

function findMatches(content: string, oldText: string): Match[] {
  const pattern = oldText
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('\\r?\\n');
  const expression = new RegExp(pattern, 'g');
  const matches: Match[] = [];
  for (let found = expression.exec(content); found !== null; found = expression.exec(content)) {
    matches.push({ start: found.index, end: found.index + found[0].length });
    // Overlapping places are as ambiguous as separate ones.
    expression.lastIndex = found.index + (found[0].startsWith('\r\n') ? 2 : 1);
  }
  return matches;
}

function withoutOverlaps(matches: readonly Match[]): Match[] {
  const chosen: Match[] = [];
  for (const match of matches) if (match.start >= (chosen.at(-1)?.end ?? 0)) chosen.push(match);
  return chosen;
}

/** Line by line: what is the same from the front and from the back keeps its ending, the rest takes a neighbour's. */
function withLocalEndings(newText: string, place: { old: string; content: string; at: Match }): string {
  if (newText.includes('\r') || !newText.includes('\n') || !place.content.includes('\r\n')) return newText;
  const lines = newText.split('\n');
  const oldLines = place.old.split('\n').map((line) => line.replace(/\r$/, ''));
  const oldEndings = [...place.old.matchAll(/\r?\n/g)].map((match) => match[0]);
  const fallback = oldEndings.at(-1) ?? endingNear(place.content, place.at);
  const endings = lines.length - 1;
  let front = 0;
  while (front < endings && front < oldEndings.length && lines[front] === oldLines[front]) front += 1;
  const shift = oldEndings.length - endings;
  let back = endings;
  while (back > front && back + shift > front && lines[back] === oldLines[back + shift]) back -= 1;
  const middle = oldEndings[front] ?? fallback;
  return lines
    .map((line, index) => {
      if (index === endings) return line;
      if (index < front) return line + (oldEndings[index] ?? fallback);
      if (index >= back) return line + (oldEndings[index + shift] ?? fallback);
      return line + middle;
    })
    .join('');
}

function endingNear(content: string, at: Match): string {
  const after = /\r?\n/.exec(content.slice(at.end))?.[0];
  if (after !== undefined) return after;
  return content.slice(0, at.start).includes('\r\n') ? '\r\n' : '\n';
}

/** Lines that are the first line of `oldText` but for white space: what was probably meant. */
function nearestLines(content: string, oldText: string): number[] {
  const wanted = oldText
    .split(/\r?\n/)
    .find((line) => line.trim() !== '')
    ?.trim();
  if (wanted === undefined) return [];
  const lines = content.split('\n');
  return lines.flatMap((line, index) => (line.trim() === wanted ? [index + 1] : [])).slice(0, 5);
}

function lineAt(content: string, offset: number): number {
  return content.slice(0, offset).split('\n').length;
}
