import { CHECKPOINT_FAMILIES, type Checkpoint } from '../domain/checkpoint.ts';
import { checkpointRow } from './checkpoint-row.ts';
import type { Io } from './io.ts';
import { ageText } from './output/amounts.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import { stateCell } from './output/state-cell.ts';
import { printTable } from './output/table.ts';
import { type Given, isGiven } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

export async function checkpoints(io: Io, given: Given): Promise<number> {
  const found = await withDaemon(io, (api) => api.checkpoints(isGiven(given, 'all')));
  const oldestFirst = found.toSorted((left, right) => left.createdAt - right.createdAt);
  if (io.json) {
    printJson(io, oldestFirst.map(checkpointRow));
    return 0;
  }
  if (found.length === 0) {
    say(io, 'nothing waits for you');
    return 0;
  }
  printTable(
    io,
    ['id', 'kind', 'state', 'asked', 'where', 'summary'],
    byFamily(oldestFirst).map((row) => cells(row, io)),
  );
  mention(io, '\nshow one with `orchestrator show <id>`, answer them all with `orchestrator review`');
  return 0;
}

/** May I, stuck, ready; oldest first within each. */
export function byFamily(oldestFirst: readonly Checkpoint[]): readonly Checkpoint[] {
  return oldestFirst.toSorted((left, right) => CHECKPOINT_FAMILIES[left.kind] - CHECKPOINT_FAMILIES[right.kind]);
}

function cells(checkpoint: Checkpoint, io: Io) {
  const where = [checkpoint.run, checkpoint.task, checkpoint.role].filter((part) => part !== undefined).join('/');
  const asked = ageText(checkpoint.createdAt, io.now());
  return [checkpoint.id, checkpoint.kind, stateCell(checkpoint.state), asked, where, checkpoint.summary];
}
