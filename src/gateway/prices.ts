import { calcPrice } from '@pydantic/genai-prices';
import { NO_USAGE, type Usage } from '../domain/usage.ts';
import type { Protocol } from '../policy/policy.ts';

/** Millionths of a dollar for a call, rounded up; undefined when the price of the model is unknown. */
export type PriceOf = (call: {
  readonly model: string;
  readonly protocol: Protocol;
  readonly usage: Usage;
  readonly at: number;
}) => number | undefined;

/** Prices out of the catalogue that is shipped with the package; nothing is fetched. */
export function cataloguePrice(call: Parameters<PriceOf>[0]): number | undefined {
  const { usage } = call;
  const cacheWrites = usage.cacheWrite5m + usage.cacheWrite1h;
  const counts = {
    // The catalogue's input is the total, cache included.
    input_tokens: usage.input + usage.cacheRead + cacheWrites,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: cacheWrites,
    cache_write_1h_tokens: usage.cacheWrite1h,
    output_tokens: usage.output,
  };
  const options = { timestamp: new Date(call.at) };
  const price =
    (call.protocol === 'anthropic' ? calcPrice(counts, call.model, { ...options, providerId: 'anthropic' }) : null) ??
    calcPrice(counts, call.model, options);
  if (price === null) return undefined;
  const missingHourRate = price.model_price['cache_write_1h_mtok'] === undefined ? usage.cacheWrite1h : 0;
  return Math.ceil((price.total_price + hourSurcharge(price.model_price, missingHourRate)) * 1e6 - 1e-6);
}

/** The most that a call can cost: whatever is not surely read from the cache counts as the dearest class of input. */
export function dearestPrice(
  priceOf: PriceOf,
  call: Omit<Parameters<PriceOf>[0], 'usage'> & {
    readonly fresh: number;
    readonly cached: number;
    readonly output: number;
  },
): number | undefined {
  const { fresh, cached, output, ...priced } = call;
  const cacheRead = Math.ceil(cached);
  let dearest = 0;
  for (const name of INPUT_CLASSES) {
    const price = priceOf({ ...priced, usage: { ...NO_USAGE, [name]: Math.ceil(fresh), cacheRead, output } });
    if (price === undefined) return undefined;
    dearest = Math.max(dearest, price);
  }
  return dearest;
}

const INPUT_CLASSES = ['input', 'cacheWrite5m', 'cacheWrite1h'] as const satisfies readonly (keyof Usage)[];

/** One-hour cache writes cost twice the input; a catalogue row that lacks the rate has counted them as other writes. */
function hourSurcharge(rates: Readonly<Record<string, unknown>>, tokens: number): number {
  const input = rateOf(rates['input_mtok']);
  const counted = rateOf(rates['cache_write_mtok']) ?? input;
  if (tokens === 0 || input === undefined || counted === undefined) return 0;
  return (tokens / 1e6) * Math.max(0, 2 * input - counted);
}

function rateOf(rate: unknown): number | undefined {
  if (typeof rate === 'number') return rate;
  return typeof rate === 'object' && rate !== null && 'base' in rate && typeof rate.base === 'number'
    ? rate.base
    : undefined;
}
