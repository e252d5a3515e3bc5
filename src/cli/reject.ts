import { EXIT_CODES, OrchestratorError } from '../domain/errors.ts';
import { findPending } from './approve.ts';
import type { Io } from './io.ts';
import { printAnswers } from './output/answers.ts';
import { defined, type Given, isGiven, textOption } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

export async function reject(io: Io, given: Given): Promise<number> {
  const reason = textOption(given, 'reason')?.trim();
  if (!reason) {
    throw new OrchestratorError(
      'usage',
      'a rejection needs a reason, the agent reads it: --reason "keep the old name"',
    );
  }
  return withDaemon(io, async (api) => {
    const [checkpoint] = await findPending(api, given.args);
    if (checkpoint === undefined) return EXIT_CODES.usage;
    const result = await api.reject({
      id: checkpoint.id,
      reason,
      ...(isGiven(given, 'rework') ? { rework: true } : {}),
      ...defined('task', textOption(given, 'task')),
      digest: checkpoint.digest,
      by: io.user,
    });
    printAnswers(io, [result]);
    return result.state === 'void' ? EXIT_CODES.refused : 0;
  });
}
