import type { Checkpoint } from '../domain/checkpoint.ts';

/** The shape of a checkpoint in `checkpoints --json`: fields may be added, never renamed. */
export function checkpointRow(checkpoint: Checkpoint): Readonly<Record<string, unknown>> {
  return {
    id: checkpoint.id,
    kind: checkpoint.kind,
    run: checkpoint.run,
    task: checkpoint.task ?? null,
    role: checkpoint.role ?? null,
    summary: checkpoint.summary,
    paths: checkpoint.binding.paths,
    digest: checkpoint.digest,
    createdAt: checkpoint.createdAt,
    state: checkpoint.state,
  };
}
