import type { Finding } from '../domain/checkpoint.ts';
import type { Session } from './session.ts';

/** Answers of this attempt that ended at an output cap which its budget had made smaller than what was asked for. */
export function clampedAnswers(session: Session): readonly Finding[] {
  const short = session.engine.store
    .read('events-of-agent', { agent: session.agent })
    .filter((row) => row['type'] === 'call-clamped-short')
    .map((row) => JSON.parse(String(row['data'])) as { readonly cap: number; readonly asked: number });
  const last = short.at(-1);
  if (last === undefined) return [];
  const count = short.length === 1 ? '1 answer was' : `${short.length} answers were`;
  const cap = (tokens: number) => tokens.toLocaleString('en-US');
  return [
    {
      kind: 'clamped-answer',
      text: `${count} cut short because the budget left room for ${cap(last.cap)} of ${cap(last.asked)} output tokens`,
      task: session.task.id,
      role: session.step.role,
    },
  ];
}
