import type { ObjectId, RunId } from '../domain/ids.ts';
import { eventWrite } from '../store/events.ts';
import type { Row, Store, Write } from '../store/store.ts';

/** A merge that was announced: the target moves from `old` to `next`, once, by the approval `checkpoint`. */
export interface MergeIntent {
  readonly id: string;
  readonly run: RunId;
  readonly target: string;
  readonly old: ObjectId;
  readonly next: ObjectId;
  readonly tree: ObjectId;
  readonly checkpoint: string;
}

/** Spends the approval and announces the merge in one transaction; neither happens without the other. */
export function announceWrites(intent: MergeIntent, at: number, policyDigest: string | undefined): readonly Write[] {
  const { id, run, ...data } = intent;
  return [
    {
      statement: 'checkpoint-spend',
      params: {
        id: intent.checkpoint,
        intent: id,
        run,
        tree: intent.tree,
        target_commit: intent.old,
        policy_digest: policyDigest ?? null,
      },
      expectChanges: 1,
    },
    {
      statement: 'intent-insert',
      params: { id, kind: 'merge', run, at, data: JSON.stringify(data) },
      expectChanges: 1,
    },
    eventWrite({ at, type: 'merge-announced', run, data: { intent: id, ...data } }),
  ];
}

export function doneWrites(intent: MergeIntent, at: number): readonly Write[] {
  return closingWrites(intent, { state: 'done', type: 'merge-finished', at, data: { commit: intent.next } });
}

/** The merge did not happen. `giveBack` only where a crash came between: then the approval may be used again. */
export function voidWrites(
  intent: MergeIntent,
  options: { at: number; reason: string; found: ObjectId | undefined; giveBack: boolean },
): readonly Write[] {
  const { at, reason, found } = options;
  const closing = closingWrites(intent, {
    state: 'void',
    type: 'merge-voided',
    at,
    data: { reason, found: found ?? null },
  });
  if (!options.giveBack) return closing;
  const params = { id: intent.checkpoint, intent: intent.id };
  return [...closing, { statement: 'checkpoint-unspend', params, expectChanges: 1 }];
}

/** The target is neither where the merge began nor where it leads: somebody else moved it, nothing more is done. */
export function frozenWrites(intent: MergeIntent, at: number, found: ObjectId | undefined): readonly Write[] {
  const data = { found: found ?? null, old: intent.old, next: intent.next };
  return closingWrites(intent, { state: 'void', type: 'merge-frozen', at, data });
}

/** Open merge intents, and done ones whose run has not reached a final state. */
export function unfinishedIntents(
  store: Store,
): readonly { readonly state: 'open' | 'done'; readonly intent: MergeIntent }[] {
  return store.read('intent-unfinished').map((row) => ({
    state: row['state'] === 'open' ? 'open' : 'done',
    intent: intentFromRow(row),
  }));
}

function closingWrites(
  intent: MergeIntent,
  end: { state: 'done' | 'void'; type: string; at: number; data: Readonly<Record<string, unknown>> },
): readonly Write[] {
  return [
    { statement: 'intent-close', params: { id: intent.id, state: end.state }, expectChanges: 1 },
    eventWrite({
      at: end.at,
      type: end.type,
      run: intent.run,
      data: { intent: intent.id, target: intent.target, checkpoint: intent.checkpoint, ...end.data },
    }),
  ];
}

/** Rows are written by `announceWrites` alone, which is what makes the assertion true. */
function intentFromRow(row: Row): MergeIntent {
  return { ...JSON.parse(String(row['data'])), id: row['id'], run: row['run'] } as MergeIntent;
}
