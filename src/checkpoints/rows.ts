import type { Checkpoint } from '../domain/checkpoint.ts';
import type { Params, Row } from '../store/store.ts';

/** Kept as JSON; the other fields are columns. `usedBy` (an intent) is added when the approval has been spent. */
type Data = Omit<Checkpoint, 'id' | 'kind' | 'state' | 'run' | 'task' | 'role' | 'createdAt' | 'answeredAt'>;

export function checkpointParams(checkpoint: Checkpoint): Params {
  const { id, kind, state, run, task, role, createdAt, answeredAt, ...data } = checkpoint;
  return {
    id,
    kind,
    state,
    run,
    task: task ?? null,
    role: role ?? null,
    created_at: createdAt,
    data: JSON.stringify(data satisfies Data),
  };
}

/** Rows are written by `checkpointParams` alone, which is what makes the assertion true. */
export function checkpointFromRow(row: Row): Checkpoint {
  const { usedBy: _usedBy, voidReason: _voidReason, ...data } = JSON.parse(String(row['data']));
  return {
    ...data,
    id: row['id'],
    kind: row['kind'],
    state: row['state'],
    run: row['run'],
    ...(row['task'] === null ? {} : { task: row['task'] }),
    ...(row['role'] === null ? {} : { role: row['role'] }),
    createdAt: row['created_at'],
    ...(row['answered_at'] === null ? {} : { answeredAt: row['answered_at'] }),
  } as Checkpoint;
}
