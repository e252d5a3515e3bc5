import type { Io } from './io.ts';
import { ageText } from './output/amounts.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import { stateCell } from './output/state-cell.ts';
import { printTable } from './output/table.ts';
import { withDaemon } from './with-daemon.ts';

export async function runs(io: Io): Promise<number> {
  const found = await withDaemon(io, (api) => api.runs());
  if (io.json) {
    printJson(io, found);
    return 0;
  }
  if (found.length === 0) {
    say(io, 'no runs yet: orchestrator run "…"');
    return 0;
  }
  const newestFirst = found.toSorted((left, right) => right.createdAt - left.createdAt);
  printTable(
    io,
    ['id', 'state', 'started', 'target', 'request'],
    newestFirst.map((run) => [run.id, stateCell(run.state), ageText(run.createdAt, io.now()), run.target, run.request]),
  );
  return 0;
}
