import type { ApiClient } from '../api/client.ts';
import { OrchestratorError } from '../domain/errors.ts';
import { followRun } from './follow-run.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import { defined, type Given, isGiven, textOption } from './program/verb.ts';
import type { Repository } from './repository.ts';
import { withDaemon } from './with-daemon.ts';

export async function run(io: Io, given: Given): Promise<number> {
  const request = (given.args[0] ?? '').trim();
  if (request === '') throw new OrchestratorError('usage', 'the request is empty: say what should be done, in quotes');
  return withDaemon(io, async (api, repository) => {
    const recorded = await handIn(io, { api, repository, request, given });
    for (const note of recorded.notes) mention(io, `note: ${note}`);
    if (isGiven(given, 'wait')) {
      mention(io, `${recorded.run} → ${recorded.target}`);
      return followRun(io, { api, run: recorded.run });
    }
    if (io.json) printJson(io, recorded);
    else {
      say(io, `${recorded.run} → ${recorded.target}`);
      mention(io, `next: \`orchestrator show ${recorded.run}\`, or \`orchestrator review\` when it asks`);
    }
    return 0;
  });
}

async function handIn(
  io: Io,
  options: { api: ApiClient; repository: Repository; request: string; given: Given },
): Promise<{ run: string; target: string; notes: string[] }> {
  const { api, repository, request, given } = options;
  return api.run({
    request,
    ...defined('role', textOption(given, 'role')),
    ...defined('base', textOption(given, 'base')),
    withWip: isGiven(given, 'withWip'),
    ...defined('target', textOption(given, 'target')),
    dryRun: isGiven(given, 'dryRun'),
    author: await readAuthor(io, repository),
  });
}

/** Commits carry the user's identity, as the user's git would use it here and now. */
async function readAuthor(io: Io, repository: Repository): Promise<{ name: string; email: string }> {
  const { openUserRepository } = await import('../git/user-repository.ts');
  const user = await openUserRepository(repository.root, { environment: io.env, clock: { now: io.now } });
  const author = await user.author();
  if (author !== undefined) return author;
  throw new OrchestratorError(
    'configuration',
    'git does not know who you are, and the commits carry your name: set it',
    {
      details: ['git config user.name "Your Name"', 'git config user.email "you@example.org"'],
    },
  );
}
