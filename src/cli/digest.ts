import type { Digest } from '../api/backend.ts';
import type { Io } from './io.ts';
import { ageText, bytesText, tokensText, usdText } from './output/amounts.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import { stateCell } from './output/state-cell.ts';
import { printTable } from './output/table.ts';
import { withDaemon } from './with-daemon.ts';

/** What happened since the last look. Only a look by a person moves that mark; a script that polls does not. */
export async function digest(io: Io): Promise<number> {
  const found = await withDaemon(io, (api) => api.digest({ mark: !io.json }));
  if (io.json) printJson(io, found);
  else printDigest(io, found);
  return 0;
}

function printDigest(io: Io, found: Digest): void {
  const since = found.since === 0 ? 'since the beginning' : `since ${ageText(found.since, io.now())}`;
  say(
    io,
    `${since}: ${found.ended.length} ${found.ended.length === 1 ? 'run' : 'runs'} ended, ${found.running.length} at work, ${found.waiting.length} waiting for you`,
  );
  const runs = [...found.ended, ...found.running];
  if (runs.length > 0) {
    io.stdout('\n');
    printTable(
      io,
      ['run', 'state', 'request'],
      runs.map((run) => [run.id, stateCell(run.state), run.request]),
    );
  }
  if (found.waiting.length > 0) {
    io.stdout('\n');
    const rows = found.waiting.map((row) => [row.id, row.kind, ageText(row.createdAt, io.now()), row.run, row.summary]);
    printTable(io, ['waiting', 'kind', 'asked', 'run', 'summary'], rows);
  }
  io.stdout('\n');
  say(io, `spent  ${tokensText(found.spentWorkTokens)} work tokens, ${usdText(found.spentUsd)}`);
  say(io, `disk   ${bytesText(found.diskBytes)}`);
  mention(io, `next   ${found.nextCommand}`);
}
