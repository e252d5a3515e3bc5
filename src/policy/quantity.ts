import type { TokenLimit } from './policy.ts';

/** `200k`, `2M`, `2e5`, `200000`, `0`, `unlimited`; undefined for anything else. */
export function parseTokenLimit(written: string | number): TokenLimit | undefined {
  if (written === 'unlimited') return 'unlimited';
  const match = /^(\d+(?:\.\d+)?)(?:e(\d{1,2})|([kM]))?$/u.exec(String(written));
  if (match === null) return undefined;
  const [, digits = '', exponent, suffix] = match;
  const factor = suffix === 'k' ? 1e3 : suffix === 'M' ? 1e6 : 10 ** Number(exponent ?? 0);
  // Rounded to thousandths first: 1.1 * 1e3 is not 1100 in binary.
  const tokens = Math.round(Number(digits) * factor * 1000) / 1000;
  return Number.isSafeInteger(tokens) && tokens <= LARGEST_TOKEN_LIMIT ? tokens : undefined;
}

/** Milliseconds of `500ms`, `180s`, `45m`, `4h`, `2d`; undefined for anything else and for zero. */
export function parseDuration(written: string | number): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/u.exec(String(written));
  if (match === null) return undefined;
  const milliseconds = Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0);
  return milliseconds > 0 && milliseconds <= LONGEST_DURATION_MS ? milliseconds : undefined;
}

/** 0.8 for `80%`; undefined unless above 0 % and at most 100 %. */
export function parsePercent(written: string | number): number | undefined {
  const match = /^(\d{1,3}(?:\.\d{1,2})?)%$/u.exec(String(written));
  if (match === null) return undefined;
  const percent = Number(match[1]);
  return percent > 0 && percent <= 100 ? percent / 100 : undefined;
}

/** Keeps thousandths of a token (the ledger's unit) exact. */
const LARGEST_TOKEN_LIMIT = 1e12;
/** A year; timers and ledgers need no longer ones. */
const LONGEST_DURATION_MS = 366 * 24 * 3600 * 1000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
