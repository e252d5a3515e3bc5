import type { HumanAnswer, TurnRecord } from '../agents/runner.ts';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { ObjectId } from '../domain/ids.ts';
import { agentId } from '../domain/ids.ts';
import type { Step } from '../domain/run.ts';
import type { Store } from '../store/store.ts';
import type { History } from './step-driver.ts';

/** The conversation of an attempt as the event log holds it, and the answers of humans to its pending calls. */
export function readHistory(store: Store, checkpoints: Checkpoints, step: Step): History {
  const rows = store.read('turn-list', { agent: agentId(step) });
  const snapshots = rows.flatMap((row) => (row['snapshot'] === null ? [] : [row['snapshot'] as ObjectId]));
  return {
    turns: rows.map((row) => JSON.parse(String(row['data'])) as TurnRecord),
    tree: snapshots.at(-1),
    answers: readAnswers(checkpoints, step),
  };
}

function readAnswers(checkpoints: Checkpoints, step: Step): ReadonlyMap<string, HumanAnswer> {
  const answers = new Map<string, HumanAnswer>();
  for (const checkpoint of checkpoints.list({ all: true, run: step.run })) {
    const call = checkpoint.payload['toolCallId'];
    const mine = checkpoint.task === step.task && checkpoint.role === step.role && checkpoint.attempt === step.attempt;
    if (!mine || typeof call !== 'string' || checkpoint.answer === undefined) continue;
    const { answer } = checkpoint;
    answers.set(
      call,
      answer.verdict === 'approve' ? { verdict: 'approve' } : { verdict: 'reject', reason: answer.reason },
    );
  }
  return answers;
}
