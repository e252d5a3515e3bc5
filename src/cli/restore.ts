import { relative, resolve, sep } from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import { normalizeRepoPath } from '../domain/path.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import type { Given } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

/** The path is relative to where the command is called, as with git. */
export async function restore(io: Io, given: Given): Promise<number> {
  const [role = '', text = ''] = given.args;
  const result = await withDaemon(io, async (api, repository) => {
    const path = normalizeRepoPath(relative(repository.root, resolve(io.cwd, text)).replaceAll(sep, '/'));
    if (path === undefined) {
      throw new OrchestratorError('usage', `${text} is not a path inside ${repository.root}`);
    }
    return api.restore({ role, path });
  });
  if (io.json) printJson(io, result);
  else say(io, result.message);
  return 0;
}
