import type { Io } from './io.ts';
import { bytesText } from './output/amounts.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import { type Given, isGiven } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

export async function gc(io: Io, given: Given): Promise<number> {
  const dryRun = isGiven(given, 'dryRun');
  const result = await withDaemon(io, (api) => api.gc({ dryRun }));
  if (io.json) printJson(io, { ...result, dryRun });
  else say(io, `${result.message} (${bytesText(result.bytes)}${dryRun ? ', nothing was removed' : ' freed'})`);
  return 0;
}
