import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import { defined, type Given, isGiven, textOption } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

/** Lands in the work tree that the command is called from, which may be a linked one. */
export async function land(io: Io, given: Given): Promise<number> {
  const [run = ''] = given.args;
  const result = await withDaemon(io, (api, repository) =>
    api.land({
      run,
      directory: repository.root,
      squash: isGiven(given, 'squash'),
      ...defined('branch', textOption(given, 'branch')),
    }),
  );
  if (io.json) printJson(io, { run, ...result });
  else say(io, result.message);
  return 0;
}
