import { OrchestratorError } from '../domain/errors.ts';

/** Milliseconds since the epoch for `7d`, `24h`, `30m`, `2026-11-30` (UTC) or a full ISO time. */
export function parseSince(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const age = /^(\d{1,6})([mhd])$/.exec(text);
  if (age !== null) return Math.max(0, now - Number(age[1]) * UNITS[age[2] === 'm' ? 'm' : age[2] === 'h' ? 'h' : 'd']);
  const at = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new OrchestratorError('usage', `--since ${text}: give an age such as 24h or 7d, or a date such as 2026-11-30`);
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
