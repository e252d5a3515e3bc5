import type { Paint } from '../../tui/paint.ts';
import type { Cell } from './table.ts';

/** The state of a run, task, step or checkpoint, coloured by what it asks of a person. */
export function stateCell(state: string): Cell {
  const paint = Object.hasOwn(TONES, state) ? TONES[state as keyof typeof TONES] : undefined;
  return paint === undefined ? state : { text: state, paint };
}

const TONES = {
  merged: 'good',
  approved: 'good',
  done: 'good',
  ready: 'warning',
  paused: 'warning',
  pending: 'warning',
  budget_exhausted: 'bad',
  failed: 'bad',
  rejected: 'bad',
  void: 'faint',
  cancelled: 'faint',
  running: 'accent',
  verifying: 'accent',
} as const satisfies Record<string, keyof Paint>;
