import type { RunResult } from '../api/backend.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import { renderCheckpoint, renderDiff } from '../tui/checkpoint-view.ts';
import { paintFor } from '../tui/paint.ts';
import { checkpointRow } from './checkpoint-row.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { printRun, printTask } from './output/run-result.ts';
import { type Given, textOption } from './program/verb.ts';
import { parseTaskReference } from './task-reference.ts';
import { withDaemon } from './with-daemon.ts';

export async function show(io: Io, given: Given): Promise<number> {
  const [id = ''] = given.args;
  const reference = parseTaskReference(id, textOption(given, 'run'));
  await withDaemon(io, async (api) => {
    const run = await api.showRun(reference?.run ?? id);
    if (run !== undefined && reference === undefined) return showRun(io, run);
    const task = run?.tasks.find((candidate) => candidate.id === reference?.task);
    if (task !== undefined) return showTask(io, task);
    const checkpoint = reference === undefined ? await api.showCheckpoint(id) : undefined;
    if (checkpoint !== undefined) return showCheckpoint(io, checkpoint);
    throw new OrchestratorError(
      'usage',
      `there is no run, task or checkpoint ${id}: \`orchestrator runs\` and \`orchestrator checkpoints --all\` list them`,
    );
  });
  return 0;
}

function showRun(io: Io, run: RunResult): void {
  if (io.json) printJson(io, run);
  else printRun(io, run);
}

function showTask(io: Io, task: RunResult['tasks'][number]): void {
  if (io.json) printJson(io, task);
  else printTask(io, task);
}

function showCheckpoint(io: Io, checkpoint: Checkpoint): void {
  if (io.json) {
    const { body, diff = null, findings, answer = null, answeredAt = null, replaces = null } = checkpoint;
    printJson(io, { ...checkpointRow(checkpoint), body, diff, findings, answer, answeredAt, replaces });
    return;
  }
  const paint = paintFor(io.color);
  io.stdout(renderCheckpoint(checkpoint, paint));
  if (checkpoint.diff) io.stdout(`\n${renderDiff(checkpoint, paint)}`);
}
