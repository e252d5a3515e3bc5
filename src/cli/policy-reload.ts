import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import { withDaemon } from './with-daemon.ts';

export async function policyReload(io: Io): Promise<number> {
  const result = await withDaemon(io, (api) => api.policyReload());
  if (io.json) {
    printJson(io, result);
    return 0;
  }
  for (const warning of result.warnings) mention(io, `warning: ${warning}`);
  say(io, `policies reloaded, digest ${result.digest.slice(0, 12)}`);
  return 0;
}
