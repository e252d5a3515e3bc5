import type { RolePolicy } from '../../policy/policy.ts';
import type { TurnRecord } from '../runner.ts';

/**
 * Which limit of the step is used up, as a sentence with its numbers; undefined while it may go on. Turns and wall
 * clock are granted again with every allowance; the two loop detectors look only at the turns since the step went on.
 */
export function exceededLimit(state: {
  readonly limits: RolePolicy['limits'];
  readonly allowances: number;
  readonly turns: number;
  readonly activeMs: number;
  readonly sinceResume: readonly TurnRecord[];
}): string | undefined {
  const { limits, sinceResume } = state;
  const factor = 1 + state.allowances;
  if (state.turns >= limits.turns * factor) {
    return `limit turns: ${state.turns} of ${limits.turns * factor} turns are used`;
  }
  if (state.activeMs >= limits.wallClockMs * factor) {
    return `limit wall_clock: ${minutes(state.activeMs)} of ${minutes(limits.wallClockMs * factor)} minutes are used`;
  }
  const rounds = roundsWithoutProgress(sinceResume);
  if (rounds >= limits.noProgressRounds) {
    return `limit no_progress_rounds: ${rounds} turns in a row changed no file and returned nothing new (limit ${limits.noProgressRounds})`;
  }
  const repeats = repeatsOfLastTurn(sinceResume, 2 * limits.identicalCalls);
  if (repeats >= limits.identicalCalls) {
    return `limit identical_calls: the same calls were made ${repeats} times in the last ${2 * limits.identicalCalls} turns (limit ${limits.identicalCalls})`;
  }
  return undefined;
}

function roundsWithoutProgress(turns: readonly TurnRecord[]): number {
  return turns.length - 1 - turns.findLastIndex((turn) => turn.progress);
}

function repeatsOfLastTurn(turns: readonly TurnRecord[], window: number): number {
  const last = turns.at(-1)?.callsHash;
  return last === undefined ? 0 : turns.slice(-window).filter((turn) => turn.callsHash === last).length;
}

function minutes(milliseconds: number): string {
  return (milliseconds / 60_000).toFixed(1);
}
