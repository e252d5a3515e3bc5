import type { AnswerResult } from '../api/backend.ts';
import type { ApiClient } from '../api/client.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { EXIT_CODES, OrchestratorError } from '../domain/errors.ts';
import { parseDollars } from '../tui/dollar-amount.ts';
import { parseTokenCount } from '../tui/token-count.ts';
import type { Io } from './io.ts';
import { printAnswers } from './output/answers.ts';
import { defined, type Given, isGiven, textOption } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

/** Approves one checkpoint after the other; stops at the first that is unknown or used. Exit 5 when one was void. */
export async function approve(io: Io, given: Given): Promise<number> {
  const tokens = readTokens(textOption(given, 'tokens'));
  const usd = readDollars(textOption(given, 'usd'));
  return withDaemon(io, async (api) => {
    const results: AnswerResult[] = [];
    for (const checkpoint of await findPending(api, given.args)) {
      results.push(
        await api.approve({
          id: checkpoint.id,
          ...defined('tokens', tokens),
          ...defined('usd', usd),
          ...(isGiven(given, 'despiteVerify') ? { despiteVerify: true } : {}),
          digest: checkpoint.digest,
          by: io.user,
        }),
      );
    }
    printAnswers(io, results);
    return results.some((result) => result.state === 'void') ? EXIT_CODES.refused : 0;
  });
}

/** The pending checkpoints with these ids; an unknown id is a usage error (2), an answered or void one is refused (5). */
export async function findPending(api: ApiClient, ids: readonly string[]): Promise<readonly Checkpoint[]> {
  const found: Checkpoint[] = [];
  for (const id of new Set(ids)) {
    const checkpoint = await api.showCheckpoint(id);
    if (checkpoint === undefined) {
      throw new OrchestratorError('usage', `there is no checkpoint ${id}: \`orchestrator checkpoints\` lists them`);
    }
    if (checkpoint.state !== 'pending') {
      throw new OrchestratorError(
        'refused',
        `${id} is ${checkpoint.state} already and is used once: nothing was changed`,
      );
    }
    found.push(checkpoint);
  }
  return found;
}

function readTokens(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const tokens = parseTokenCount(text);
  if (tokens !== undefined) return tokens;
  throw new OrchestratorError('usage', `--tokens ${text} is not a number of tokens: write 300000, 300k or 2M`);
}

function readDollars(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const usd = parseDollars(text);
  if (usd !== undefined) return usd;
  throw new OrchestratorError('usage', `--usd ${text} is not an amount in dollars: write 5 or 2.50`);
}
