import { OrchestratorError } from '../domain/errors.ts';
import type { Clock, ObjectId, RunId } from '../domain/ids.ts';
import { ZERO_OBJECT_ID } from '../domain/ids.ts';
import type { StoreGit, UserRepository } from '../git/git.ts';
import type { Store, Write } from '../store/store.ts';
import { doneWrites, frozenWrites, type MergeIntent, unfinishedIntents, voidWrites } from './intents.ts';

export interface SettleParts {
  readonly store: Store;
  readonly git: StoreGit;
  readonly user: UserRepository;
  readonly clock: Clock;
}

export interface Settled {
  readonly run: RunId;
  readonly outcome: 'finished' | 'void' | 'frozen';
  readonly commit: ObjectId;
}

/** What a crash left: open intents are settled; done ones whose run has not heard of it are reported again. */
export async function recoverIntents(parts: SettleParts): Promise<readonly Settled[]> {
  const outcomes: Settled[] = [];
  for (const { state, intent } of unfinishedIntents(parts.store)) {
    if (state === 'open') outcomes.push(await settleIntent(parts, intent));
    else outcomes.push({ run: intent.run, outcome: 'finished', commit: intent.next });
  }
  return outcomes;
}

/**
 * Reads from the ref what became of an announced merge. Still at `old`: it did not happen and the approval is given
 * back. At `next` or grown from there: it happened. Anywhere else: somebody moved the target, which is an alarm.
 */
export async function settleIntent(parts: SettleParts, intent: MergeIntent): Promise<Settled> {
  const { store, git, user, clock } = parts;
  const { run, next, old } = intent;
  const found = await user.resolve(intent.target);
  const at = clock.now();
  if ((found ?? ZERO_OBJECT_ID) === old) {
    const reason = 'it was cut short before the target moved';
    await closeIntent(store, voidWrites(intent, { at, reason, found, giveBack: true }));
    return { run, outcome: 'void', commit: old };
  }
  if (found !== undefined && (await holdsMerge(git, found, intent))) {
    await closeIntent(store, doneWrites(intent, at));
    return { run, outcome: 'finished', commit: next };
  }
  await closeIntent(store, frozenWrites(intent, at, found));
  return { run, outcome: 'frozen', commit: found ?? ZERO_OBJECT_ID };
}

/** Whether the target stands at the merge, with the tree that was approved, or has grown from there. */
export async function holdsMerge(git: StoreGit, found: ObjectId, intent: MergeIntent): Promise<boolean> {
  if ((await git.treeOf(intent.next)) !== intent.tree) return false;
  return found === intent.next || (await git.isAncestor(intent.next, found));
}

export async function closeIntent(store: Store, writes: readonly Write[]): Promise<void> {
  const outcome = await store.write(writes);
  if (outcome.committed) return;
  const statement = writes[outcome.failedAt]?.statement ?? 'unknown';
  throw new OrchestratorError(
    'failed',
    `the record of a merge could not be closed (guard of ${statement}); restart the daemon, which reads the target again.`,
  );
}
