import type { Answer, Checkpoint, CheckpointState } from '../domain/checkpoint.ts';
import { CHECKPOINT_FAMILIES } from '../domain/checkpoint.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { CheckpointId, Clock, RandomText } from '../domain/ids.ts';
import { newCheckpointId } from '../domain/ids.ts';
import { eventWrite } from '../store/events.ts';
import type { Store, Write } from '../store/store.ts';
import { bindingChanges, bindingDigest } from './binding.ts';
import type { AnswerOutcome, Checkpoints, CurrentState, NewCheckpoint } from './checkpoints.ts';
import { checkpointFromRow, checkpointParams } from './rows.ts';

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: RandomText;
}

/**
 * State machine: pending → approved | rejected | void, each once, by a statement guarded on `pending`. An approved
 * merge is spent by the gate (statement checkpoint-spend); nothing else leaves a final state.
 */
export function openCheckpoints(parts: Parts): Checkpoints {
  const { store, clock } = parts;
  return {
    prepare: (request) => prepareCheckpoint(parts, request),
    get: (id) => readCheckpoint(store, id),
    list(options) {
      const rows = store.read('checkpoint-list', { all: options.all ? 1 : 0, run: options.run ?? null });
      // A stable sort: within a family the rows stay oldest first.
      return rows
        .map(checkpointFromRow)
        .sort((left, right) => CHECKPOINT_FAMILIES[left.kind] - CHECKPOINT_FAMILIES[right.kind]);
    },
    answer: (id, answer, current, extraWrites = []) => answerOnce(parts, { id, answer, current, extraWrites }),
    approvalWrites: (checkpoint, by) => answerWrites(checkpoint, { verdict: 'approve', by }, clock.now()),
    voidWrites: (id, reason) => voidingWrites(id, reason, clock.now()),
  };
}

function prepareCheckpoint(parts: Parts, request: NewCheckpoint): { checkpoint: Checkpoint; writes: readonly Write[] } {
  const { findings, binding: unbound, ...rest } = request;
  const binding = { ...unbound, nonce: parts.random(16) };
  const checkpoint: Checkpoint = {
    ...rest,
    id: newCheckpointId(parts.random),
    state: 'pending',
    findings: findings ?? [],
    binding,
    digest: bindingDigest(binding),
    createdAt: parts.clock.now(),
  };
  const insert = { statement: 'checkpoint-insert', params: checkpointParams(checkpoint), expectChanges: 1 };
  const data = { digest: checkpoint.digest, summary: checkpoint.summary };
  return { checkpoint, writes: [insert, eventOf(checkpoint, 'checkpoint-opened', checkpoint.createdAt, data)] };
}

interface Answering {
  readonly id: CheckpointId;
  readonly answer: Answer;
  readonly current: CurrentState;
  readonly extraWrites: readonly Write[];
}

async function answerOnce({ store, clock }: Parts, request: Answering): Promise<AnswerOutcome> {
  const { id, answer, extraWrites } = request;
  const checkpoint = mustRead(store, id);
  if (checkpoint.state !== 'pending') return { state: 'used', checkpoint };
  const changed = bindingChanges(checkpoint.binding, request.current);
  if (changed.length > 0) {
    const outcome = await store.write(guardLast(voidingWrites(id, changed.join('; '), clock.now())));
    const now = mustRead(store, id);
    return outcome.committed ? { state: 'void', checkpoint: now, changed } : { state: 'used', checkpoint: now };
  }
  const at = clock.now();
  const outcome = await store.write([...answerWrites(checkpoint, answer, at), ...extraWrites]);
  if (outcome.committed) return { state: 'accepted', checkpoint: mustRead(store, id) };
  if (outcome.failedAt === 0) return { state: 'used', checkpoint: mustRead(store, id) };
  const failed = extraWrites[outcome.failedAt - 2]?.statement ?? 'event-insert';
  throw new OrchestratorError(
    'failed',
    `checkpoint ${id} was not answered: its state changed meanwhile (guard of ${failed}). It still waits; look at it again.`,
  );
}

function answerWrites(checkpoint: Checkpoint, answer: Answer, at: number): readonly Write[] {
  const state = STATE_AFTER[answer.verdict];
  return [
    {
      statement: 'checkpoint-answer',
      params: { id: checkpoint.id, state, at, answer: JSON.stringify(answer) },
      expectChanges: 1,
    },
    eventOf(checkpoint, `checkpoint-${state}`, at, { digest: checkpoint.digest, answer }),
  ];
}

const STATE_AFTER = { approve: 'approved', reject: 'rejected' } as const satisfies Record<
  Answer['verdict'],
  CheckpointState
>;

function readCheckpoint(store: Store, id: string): Checkpoint | undefined {
  const row = store.read('checkpoint-get', { id })[0];
  return row === undefined ? undefined : checkpointFromRow(row);
}

function mustRead(store: Store, id: CheckpointId): Checkpoint {
  const checkpoint = readCheckpoint(store, id);
  if (checkpoint !== undefined) return checkpoint;
  throw new OrchestratorError('usage', `there is no checkpoint ${id}; \`orchestrator checkpoints --all\` lists them.`);
}

/** Not guarded: the event is written only while the checkpoint is pending, so voiding an answered one changes nothing. */
function voidingWrites(id: CheckpointId, reason: string, at: number): readonly Write[] {
  const params = { id, reason, at };
  return [
    { statement: 'checkpoint-void-event', params },
    { statement: 'checkpoint-void', params },
  ];
}

function guardLast(writes: readonly Write[]): readonly Write[] {
  return writes.map((write, index) => (index === writes.length - 1 ? { ...write, expectChanges: 1 } : write));
}

function eventOf(checkpoint: Checkpoint, type: string, at: number, data: Readonly<Record<string, unknown>>): Write {
  return eventWrite({
    at,
    type,
    run: checkpoint.run,
    task: checkpoint.task,
    role: checkpoint.role,
    data: { checkpoint: checkpoint.id, kind: checkpoint.kind, ...data },
  });
}
