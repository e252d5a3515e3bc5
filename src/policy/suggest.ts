/** The known word nearest to what was written, when it is near enough to be a slip. */
export function nearest(written: string, known: Iterable<string>): string | undefined {
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const word of known) {
    const distance = editDistance(written.toLowerCase(), word.toLowerCase());
    if (best === undefined || distance < best.distance) best = { word, distance };
  }
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.word.length / 3)) ? best.word : undefined;
}

export function didYouMean(written: string, known: Iterable<string>): string | undefined {
  const word = nearest(written, known);
  return word === undefined ? undefined : `did you mean \`${word}\`?`;
}

function editDistance(first: string, second: string): number {
  let row = Array.from({ length: second.length + 1 }, (_, index) => index);
  for (let line = 1; line <= first.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= second.length; column += 1) {
      const replace = (row[column - 1] ?? 0) + (first[line - 1] === second[column - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[second.length] ?? first.length;
}
