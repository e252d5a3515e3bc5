import { type Check, found, passed } from '../../domain/check.ts';
import { asText } from '../json.ts';
import type { Exchange } from './minimal-request.ts';

const LARGEST_SKEW_MS = 5 * 60_000;

/** Milliseconds that this machine is ahead of the endpoint, by the date of its answer. */
export function skewOf({ result }: Exchange, nowMs: number): number | undefined {
  const date = result.kind === 'answered' ? Date.parse(asText(result.headers['date']) ?? '') : Number.NaN;
  return Number.isNaN(date) ? undefined : nowMs - date;
}

/** The day window of budgets and the validity of certificates hang on the clock. */
export function clockChecks(skewsMs: readonly number[]): readonly Check[] {
  const [least] = [...skewsMs].sort((left, right) => Math.abs(left) - Math.abs(right));
  if (least === undefined) return [];
  if (Math.abs(least) <= LARGEST_SKEW_MS) return [passed('endpoint clock', "agrees with the endpoint's")];
  const minutes = Math.round(Math.abs(least) / 60_000);
  return [
    found('endpoint clock', {
      level: 'warning',
      symptom: `this machine's clock is ${minutes} minutes ${least > 0 ? 'ahead of' : 'behind'} the endpoint's`,
      cause: 'one of the two is not set right',
      remedy: 'synchronise the clock (timedatectl set-ntp true): day budgets and certificates go by it',
    }),
  ];
}
