import { EXIT_CODES, OrchestratorError } from '../domain/errors.ts';
import { askPerson } from './ask-person.ts';
import type { Io } from './io.ts';
import { mention, say } from './output/say.ts';
import { withDaemon } from './with-daemon.ts';

/** Walks everything that waits. Exit 3 while something is left unanswered. */
export async function review(io: Io): Promise<number> {
  const { terminal } = io;
  if (terminal === undefined || io.json) {
    throw new OrchestratorError(
      'usage',
      'review asks a person and needs a terminal: without one use `orchestrator checkpoints`, `show`, `approve`, `reject`',
    );
  }
  return withDaemon(io, async (api) => {
    const pending = await api.checkpoints(false);
    if (pending.length === 0) {
      say(io, 'nothing waits for you');
      return 0;
    }
    const summary = await askPerson(io, { api, terminal, pending });
    mention(io, `\n${summary.approved} approved, ${summary.rejected} rejected, ${summary.skipped} skipped`);
    return (await api.checkpoints(false)).length > 0 ? EXIT_CODES.waiting : 0;
  });
}
