import { readGrants } from '../checkpoints/grants.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { Task } from '../domain/run.ts';
import type { MergeCandidate, StepCommit } from '../gate/gate.ts';
import type { Engine } from './engine.ts';
import type { RunRecord } from './records.ts';

/** What the gate judges: the commits of the steps whose tasks are in the result, and what humans granted. */
export function candidateOf(
  engine: Engine,
  record: RunRecord,
  options: { result: ObjectId; target: ObjectId },
): MergeCandidate {
  const { run } = record;
  const included = record.tasks.filter((task) => task.state === 'ready' || task.state === 'merged');
  return {
    run: run.id,
    target: run.manifest.target,
    targetCommit: options.target,
    baseCommit: run.manifest.baseCommit,
    result: options.result,
    steps: included.flatMap((task) => stepCommits(record, task)),
    grants: readGrants(engine.store, run.id),
  };
}

/** The commits that lead to a task's head; those of rounds that a restart threw away are not among them. */
export function stepCommits(record: RunRecord, task: Task): readonly StepCommit[] {
  const commits: StepCommit[] = [];
  const made = record.steps.filter((step) => step.task === task.id && step.commit !== undefined);
  let head = task.head;
  for (const step of [...made].reverse()) {
    if (step.commit !== head || step.commit === undefined || step.start === undefined) continue;
    commits.unshift({ task: task.id, role: step.role, commit: step.commit, parent: step.start });
    head = step.start;
  }
  return commits;
}
