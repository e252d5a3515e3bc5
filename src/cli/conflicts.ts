import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import { printTable } from './output/table.ts';
import { withDaemon } from './with-daemon.ts';

export async function conflicts(io: Io): Promise<number> {
  const found = await withDaemon(io, (api) => api.conflicts());
  if (io.json) {
    printJson(io, found);
    return 0;
  }
  if (found.length === 0) {
    say(io, 'no conflicts recorded');
    return 0;
  }
  printTable(
    io,
    ['id', 'kind', 'state', 'run', 'tasks', 'roles', 'path'],
    found.map((conflict) => [
      conflict.id,
      conflict.kind,
      conflict.state,
      conflict.run,
      conflict.tasks.join(', '),
      conflict.roles.join(', '),
      conflict.path,
    ]),
  );
  return 0;
}
