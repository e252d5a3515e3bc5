export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value was held against, in words. */
  readonly bound?: string;
}

/** Prints figures as a table that can be pasted into a report. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  const width = Math.max(...figures.map((figure) => figure.name.length));
  const lines = figures.map(({ name, value, unit, bound }) => {
    const number = (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')).padStart(12);
    return `${name.padEnd(width)} ${number} ${unit}${bound === undefined ? '' : `  (${bound})`}`;
  });
  console.log([title, ...lines].join('\n'));
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((left, right) => left - right);
  const found = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}

/** What `work` gave, and how many milliseconds it took. */
export async function timed<Value>(work: () => Promise<Value>): Promise<{ ms: number; value: Value }> {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}
