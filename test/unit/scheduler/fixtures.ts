import type { ObjectId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import type { Manifest, Run, Step, Task, TaskPlan } from '../../../src/domain/run.ts';
import type { RunRecord } from '../../../src/scheduler/records.ts';

export const RUN = 'r-20261130-101500-k3f9' as RunId;

export function role(name: string): RoleName {
  return name as RoleName;
}

export function task(id: string, given: Partial<Omit<Task, 'plan'>> & { plan?: Partial<TaskPlan> } = {}): Task {
  const { plan, ...rest } = given;
  return {
    run: RUN,
    id: id as TaskId,
    state: 'queued',
    round: 1,
    reviewRounds: 0,
    allowances: 0,
    after: [],
    plan: {
      title: id,
      steps: [role('coder'), role('test'), role('reviewer')],
      expectedPaths: [],
      instructions: '',
      dependsOn: [],
      ...plan,
    },
    ...rest,
  };
}

export function step(taskId: string, name: string, given: Partial<Step> = {}): Step {
  return {
    run: RUN,
    task: taskId as TaskId,
    role: role(name),
    attempt: 1,
    state: 'done',
    activeMs: 0,
    allowances: 0,
    violations: 0,
    remarks: [],
    ...given,
  };
}

export function record(tasks: readonly Task[], steps: readonly Step[] = [], run: Partial<Run> = {}): RunRecord {
  return {
    run: {
      id: RUN,
      state: 'running',
      request: 'do it',
      target: `orchestrator/${RUN}`,
      createdAt: 1,
      manifest: {
        pipeline: ['planner', 'coder', 'test', 'reviewer'].map(role),
        baseCommit: 'b' as ObjectId,
      } as unknown as Manifest,
      activeMs: 0,
      allowances: 0,
      ...run,
    },
    tasks,
    steps,
  };
}
