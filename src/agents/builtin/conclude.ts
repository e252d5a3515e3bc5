import type { Assignment, TurnRecord } from '../runner.ts';

/** What a fully answered turn means for the step. */
export type Conclusion = 'go-on' | 'finish' | 'remind' | 'fail';

/**
 * A turn ends the step when it calls `finish` or calls nothing. It does not while the daemon still has something to
 * tell (`notices`), nor before a planner's plan or a reviewer's verdict was accepted: that is reminded once.
 */
export function conclude(turn: TurnRecord, earlier: readonly TurnRecord[], submits: Assignment['submits']): Conclusion {
  if (turn.notices.length > 0 || !endsStep(turn)) return 'go-on';
  const turns = [...earlier, turn];
  if (submits === 'nothing' || turns.some((one) => hasAccepted(one, `submit_${submits}`))) return 'finish';
  return turns.some((one) => one.notices.includes(reminder(submits))) ? 'fail' : 'remind';
}

export function reminder(submits: 'plan' | 'review'): string {
  return `You ended without a ${SUBMISSIONS[submits]} that was accepted. Call submit_${submits} now; without it the step fails.`;
}

export function failure(role: string, submits: 'plan' | 'review'): string {
  return `Role ${role} ended without a ${SUBMISSIONS[submits]}, also after a reminder (submit_${submits} was never accepted).`;
}

/** What the agent says it did: the summary of `finish`, or its last text. */
export function summaryOf(turn: TurnRecord, text: string): string {
  const input = turn.calls.find((call) => call.name === 'finish')?.input;
  const summary = typeof input === 'object' && input !== null && 'summary' in input ? input.summary : undefined;
  const chosen = typeof summary === 'string' && summary.trim() !== '' ? summary : text;
  return chosen.trim() === '' ? 'The agent ended without a summary.' : chosen.trim();
}

const SUBMISSIONS = { plan: 'plan', review: 'verdict' } as const;

function endsStep(turn: TurnRecord): boolean {
  return turn.calls.length === 0 || hasAccepted(turn, 'finish');
}

function hasAccepted(turn: TurnRecord, tool: string): boolean {
  return turn.calls.some((call, index) => call.name === tool && turn.results[index]?.isError === false);
}
