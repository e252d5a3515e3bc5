import type { RunResult } from '../api/backend.ts';
import { FINAL_STATES, PLAN_TASK } from '../domain/run.ts';
import type { Engine } from './engine.ts';
import type { RunRecord } from './records.ts';

/** The shape of `run --wait`. Tokens are work tokens of the attempt. */
export function runResult(engine: Engine, record: RunRecord): RunResult {
  const { run, tasks, steps } = record;
  const spent = new Map(
    engine.store
      .read('call-work-by-step', { run: run.id })
      .map((row) => [`${row['task']}/${row['role']}#${row['attempt']}`, Number(row['work_milli']) / 1000]),
  );
  return {
    run: run.id,
    state: run.state,
    request: run.request,
    reason: run.reason ?? null,
    tasks: tasks
      .filter((task) => task.id !== PLAN_TASK)
      .map((task) => ({
        id: task.id,
        title: task.plan.title,
        state: task.state,
        reason: task.reason ?? null,
        steps: steps
          .filter((step) => step.task === task.id)
          .map((step) => ({
            role: step.role,
            attempt: step.attempt,
            state: step.state,
            tokens: spent.get(`${step.task}/${step.role}#${step.attempt}`) ?? 0,
          })),
      })),
    target: run.target,
    commit: run.commit ?? null,
    checkpoints: [...engine.checkpoints.list({ all: false, run: run.id })]
      .sort((left, right) => left.createdAt - right.createdAt)
      .map((checkpoint) => checkpoint.id),
  };
}

/** Ended, or waiting for a human. */
export function isResting(result: RunResult): boolean {
  return FINAL_STATES.has(result.state as never) || result.checkpoints.length > 0 || result.state === 'ready';
}
