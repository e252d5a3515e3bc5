import type { Status } from '../api/backend.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import { paintFor } from '../tui/paint.ts';
import type { Io } from './io.ts';
import { ageText, bytesText, tokensText } from './output/amounts.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import { stateCell } from './output/state-cell.ts';
import { printTable } from './output/table.ts';
import { withDaemon } from './with-daemon.ts';

export async function status(io: Io): Promise<number> {
  const found = await withDaemon(io, (api) => api.status());
  if (io.json) printJson(io, found);
  else printStatus(io, found);
  return 0;
}

function printStatus(io: Io, found: Status): void {
  const { daemon, watcher } = found;
  const lastEvent =
    watcher.lastEventAt === null ? 'no event yet' : `last event ${ageText(watcher.lastEventAt, io.now())}`;
  say(io, `daemon   ${daemon.version}, pid ${daemon.pid}, started ${ageText(daemon.since, io.now())}`);
  say(io, `gateway  ${daemon.gatewayUrl}`);
  say(io, `sandbox  ${daemon.sandbox}`);
  say(io, `watcher  ${watcher.mode}, ${watcher.trees} ${watcher.trees === 1 ? 'tree' : 'trees'}, ${lastEvent}`);
  say(io, `disk     workspaces ${bytesText(found.disk.workspacesBytes)}, store ${bytesText(found.disk.storeBytes)}`);
  for (const warning of daemon.warnings) printWarning(io, warning);
  io.stdout('\n');
  printRoles(io, found.roles);
  if (found.runs.length > 0) {
    io.stdout('\n');
    printTable(
      io,
      ['run', 'state', 'request'],
      found.runs.map((run) => [run.id, stateCell(run.state), run.request]),
    );
  }
  const open = found.conflicts.filter((conflict) => conflict.state !== 'resolved').length;
  if (open > 0) say(io, `\n${open} open conflicts: \`orchestrator conflicts\``);
  if (found.checkpoints > 0) say(io, `\n${found.checkpoints} waiting for you: \`orchestrator review\``);
  else mention(io, '\nnothing waits for you');
}

export function printWarning(io: Io, text: string): void {
  io.stdout(`${paintFor(io.color).warning('warning')}  ${escapeForDisplay(text)}\n`);
}

function printRoles(io: Io, roles: Status['roles']): void {
  printTable(
    io,
    ['role', 'runner', 'model', 'key', 'used', 'held', 'limit', 'window'],
    roles.map(({ role, runner, model, keyTail, budget }) => [
      role,
      runner,
      model,
      keyTail,
      tokensText(budget.used),
      tokensText(budget.held),
      budget.limit === 'unlimited' ? 'unlimited' : tokensText(budget.limit),
      budget.window,
    ]),
  );
}
