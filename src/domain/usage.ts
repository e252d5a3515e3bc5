/**
 * What one model call used, in disjoint classes (tokens). `reasoning` is the part of `output` that was reasoning.
 * Anthropic's input excludes cache; OpenAI's includes it and is reduced before it gets here.
 */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
}

export const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

/**
 * Work tokens in thousandths: input + cache write + output + weight × cache read. Thousandths keep the sum exact for
 * every weight with up to three decimals.
 */
export function workMilliTokens(usage: Usage, cacheReadWeight: number): number {
  const whole = usage.input + usage.cacheWrite5m + usage.cacheWrite1h + usage.output;
  return whole * 1000 + usage.cacheRead * Math.round(cacheReadWeight * 1000);
}
