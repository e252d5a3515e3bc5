import { OrchestratorError } from '../domain/errors.ts';
import type { RandomText } from '../domain/ids.ts';
import type { MergeCandidate, MoveOutcome } from './gate.ts';
import { announceWrites, doneWrites, frozenWrites, type MergeIntent, voidWrites } from './intents.ts';
import { closeIntent, holdsMerge, type SettleParts, settleIntent } from './settle.ts';

/**
 * Moves the target to a result that was judged and approved.
 *
 * Crash behaviour: before the announcement nothing has happened (imported objects are unreachable); between the
 * announcement and the done row `recoverIntents` reads from the ref what happened.
 */
export async function moveTarget(
  parts: SettleParts & { readonly random: RandomText },
  candidate: MergeCandidate,
  approval: { checkpoint: string; policyDigest?: string },
): Promise<MoveOutcome> {
  const { store, git, user, clock } = parts;
  const { target, result, targetCommit } = candidate;
  if ((await user.checkedOutBranches()).has(target)) return { state: 'checked-out' };
  await user.importCommit(git, result);
  const intent: MergeIntent = {
    id: `i-${parts.random(8)}`,
    run: candidate.run,
    target,
    old: targetCommit,
    next: result,
    tree: await git.treeOf(result),
    checkpoint: approval.checkpoint,
  };
  const announced = await store.write(announceWrites(intent, clock.now(), approval.policyDigest));
  if (!announced.committed) throw unusableApproval(intent);
  const moved = await compareAndSwap(parts, intent);
  const found = await user.resolve(target);
  if (!moved) {
    const reason = 'the target was elsewhere';
    await closeIntent(store, voidWrites(intent, { at: clock.now(), reason, found, giveBack: false }));
    return { state: 'target-moved', found };
  }
  if (found === undefined || !(await holdsMerge(git, found, intent))) {
    await closeIntent(store, frozenWrites(intent, clock.now(), found));
    throw new OrchestratorError(
      'failed',
      `${target} was moved to ${result} and at once to ${found ?? 'nothing'} by somebody else; look at its reflog.`,
    );
  }
  await closeIntent(store, doneWrites(intent, clock.now()));
  return { state: 'moved', commit: result };
}

/** A git that fails half-way (a locked ref, a full disk) must not leave the intent open until the next start. */
async function compareAndSwap(parts: SettleParts, intent: MergeIntent): Promise<boolean> {
  try {
    return await parts.user.moveRef(intent.target, intent.next, intent.old);
  } catch (error) {
    await settleIntent(parts, intent);
    throw error;
  }
}

function unusableApproval(intent: MergeIntent): OrchestratorError {
  return new OrchestratorError(
    'refused',
    `checkpoint ${intent.checkpoint} does not approve moving ${intent.target} from ${intent.old} to tree ${intent.tree}: ` +
      'it is not approved, was used before, or showed something else. Nothing was moved; answer the current checkpoint.',
  );
}
