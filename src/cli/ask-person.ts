import type { ApiClient } from '../api/client.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { paintFor } from '../tui/paint.ts';
import { type ReviewSummary, reviewLoop } from '../tui/review-loop.ts';
import { byFamily } from './checkpoints.ts';
import type { Io, Terminal } from './io.ts';
import { defined } from './program/verb.ts';

/** Walks these checkpoints with the person at the terminal. Used by `review` and by `run --wait`. */
export function askPerson(
  io: Io,
  given: { readonly api: ApiClient; readonly terminal: Terminal; readonly pending: readonly Checkpoint[] },
): Promise<ReviewSummary> {
  const { api, terminal, pending } = given;
  const oldestFirst = pending.toSorted((left, right) => left.createdAt - right.createdAt);
  return terminal.withKeys((nextKey) =>
    reviewLoop(
      byFamily(oldestFirst),
      {
        approve: (checkpoint, { tokens, usd, despiteVerify }) =>
          api.approve({
            id: checkpoint.id,
            ...defined('tokens', tokens),
            ...defined('usd', usd),
            ...defined('despiteVerify', despiteVerify),
            digest: checkpoint.digest,
            by: io.user,
          }),
        reject: (checkpoint, { reason, rework }) =>
          api.reject({ id: checkpoint.id, reason, rework, digest: checkpoint.digest, by: io.user }),
        find: (id) => api.showCheckpoint(id),
        nextKey,
        write: (text) => io.stdout(text),
      },
      paintFor(io.color),
    ),
  );
}
