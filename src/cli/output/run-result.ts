import type { RunResult } from '../../api/backend.ts';
import type { Io } from '../io.ts';
import { tokensText } from './amounts.ts';
import { mention, say } from './say.ts';
import { stateCell } from './state-cell.ts';
import { printTable } from './table.ts';

type TaskResult = RunResult['tasks'][number];

/** A run with its tasks and steps, and what a person can do about it. */
export function printRun(io: Io, run: RunResult): void {
  say(io, `${run.run}  ${run.state}  ${run.request}`);
  if (run.reason !== null) say(io, `  ${run.reason}`);
  say(io, `  target ${run.target}${run.commit === null ? '' : ` at ${run.commit.slice(0, 12)}`}`);
  for (const task of run.tasks) {
    io.stdout('\n');
    printTask(io, task);
  }
  for (const id of run.checkpoints) mention(io, `\nwaits at ${id}: \`orchestrator show ${id}\``);
}

export function printTask(io: Io, task: TaskResult): void {
  say(io, `${task.id}  ${task.state}  ${task.title}`);
  if (task.reason !== null) say(io, `  ${task.reason}`);
  if (task.steps.length === 0) return;
  printTable(
    io,
    ['role', 'attempt', 'state', 'tokens'],
    task.steps.map((step) => [step.role, String(step.attempt), stateCell(step.state), tokensText(step.tokens)]),
  );
}
