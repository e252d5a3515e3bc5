/** One line of the result. */
export interface Row {
  readonly name: string;
  readonly measured: Figure;
  readonly baseline: Figure | undefined;
  /** Measured ÷ baseline, or the measured value where there is no baseline. */
  readonly ratio: number;
  readonly aim: Aim | undefined;
  readonly rounds: number;
}

export interface Figure {
  readonly what: string;
  readonly median: number;
  readonly unit: string;
}

export type Aim = { readonly atMost: number } | { readonly atLeast: number };

/** One side of a comparison: does the thing once and returns the figure of that time. */
export interface Side {
  readonly what: string;
  readonly unit: string;
  readonly once: () => Promise<number>;
}

/** Both sides by turns, so that what else the machine does meets both; the ratio is that of the medians. */
export async function compare(options: {
  readonly name: string;
  readonly measured: Side;
  readonly baseline: Side;
  readonly rounds: number;
  readonly aim?: Aim;
}): Promise<Row> {
  const { name, measured, baseline, rounds } = options;
  await baseline.once();
  await measured.once();
  const samples = { measured: [] as number[], baseline: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    samples.baseline.push(await baseline.once());
    samples.measured.push(await measured.once());
  }
  const figures = { measured: median(samples.measured), baseline: median(samples.baseline) };
  return {
    name,
    measured: { what: measured.what, unit: measured.unit, median: figures.measured },
    baseline: { what: baseline.what, unit: baseline.unit, median: figures.baseline },
    ratio: figures.measured / figures.baseline,
    aim: options.aim,
    rounds,
  };
}

/** A figure without a baseline. */
export function single(options: { name: string; figure: Figure; rounds: number; aim?: Aim }): Row {
  const { name, figure, rounds, aim } = options;
  return { name, measured: figure, baseline: undefined, ratio: figure.median, aim, rounds };
}

export function meets(row: Row): boolean | undefined {
  if (row.aim === undefined) return undefined;
  return 'atMost' in row.aim ? row.ratio <= row.aim.atMost : row.ratio >= row.aim.atLeast;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new Error('no samples');
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** Milliseconds that `act` takes. */
export async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}
