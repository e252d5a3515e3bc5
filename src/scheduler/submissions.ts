import type { SubmittedPlan, SubmittedReview } from '../agents/runner.ts';
import type { RoleName, TaskId } from '../domain/ids.ts';
import { taskId } from '../domain/ids.ts';
import type { Task, TaskPlan } from '../domain/run.ts';
import { commit } from './engine.ts';
import { stepWrite, taskWrite } from './records.ts';
import { type Session, sessionEvent, withTime } from './session.ts';

const TASKS_ALLOWED = 30;

/** Takes a plan: checks it, gives the tasks their ids and records them as `queued`. A text says what is wrong. */
export async function takePlan(session: Session, plan: SubmittedPlan): Promise<string | undefined> {
  const pipeline = session.run.manifest.pipeline;
  const problem = planProblem(plan, pipeline);
  if (problem !== undefined) return problem;
  const tasks = plan.tasks.map((task, index) => newTask(session, index, toTaskPlan(task, pipeline)));
  session.step = { ...session.step, planned: true };
  await commit(session.engine.store, [
    { statement: 'task-delete-planned', params: { run: session.run.id } },
    ...tasks.map(taskWrite),
    stepWrite(withTime(session)),
    sessionEvent(session, 'plan-submitted', { tasks: tasks.map((task) => ({ id: task.id, ...task.plan })) }),
  ]);
  return undefined;
}

export async function takeReview(session: Session, review: SubmittedReview): Promise<string | undefined> {
  session.step = { ...session.step, verdict: review.verdict, findings: review.findings };
  await commit(session.engine.store, [
    stepWrite(withTime(session)),
    sessionEvent(session, 'review-submitted', { verdict: review.verdict, findings: review.findings }),
  ]);
  return undefined;
}

/** What is wrong with a plan, in a sentence that the planner can act on. */
export function planProblem(plan: SubmittedPlan, pipeline: readonly RoleName[]): string | undefined {
  if (plan.tasks.length === 0) return 'The plan holds no task. Submit at least one.';
  if (plan.tasks.length > TASKS_ALLOWED)
    return `The plan holds ${plan.tasks.length} tasks; at most ${TASKS_ALLOWED} are taken.`;
  const workers = pipeline.filter((role) => role !== 'planner');
  for (const [index, task] of plan.tasks.entries()) {
    const unknown = (task.steps ?? []).filter((role) => !workers.includes(role as RoleName));
    if (unknown.length > 0) {
      return `Task ${index} names the role ${unknown.join(', ')}; the pipeline has ${workers.join(', ')}.`;
    }
    const wrong = (task.depends_on ?? []).filter((other) => other < 0 || other >= plan.tasks.length || other === index);
    if (wrong.length > 0)
      return `Task ${index} depends on ${wrong.join(', ')}; use indices of other tasks of this plan, from 0.`;
  }
  return hasCycle(plan) ? 'The dependencies of the plan form a circle.' : undefined;
}

export function newTask(context: { run: { id: Task['run'] } }, index: number, plan: TaskPlan): Task {
  return {
    run: context.run.id,
    id: taskId(index + 1),
    state: 'queued',
    plan,
    round: 1,
    reviewRounds: 0,
    allowances: 0,
    after: [],
  };
}

function toTaskPlan(task: SubmittedPlan['tasks'][number], pipeline: readonly RoleName[]): TaskPlan {
  const steps = task.steps && task.steps.length > 0 ? (task.steps as readonly RoleName[]) : defaultSteps(pipeline);
  return {
    title: task.title.trim().split('\n')[0]?.slice(0, 120) || 'untitled',
    steps,
    expectedPaths: task.expected_paths,
    instructions: task.instructions,
    ...(task.acceptance?.trim() ? { acceptance: task.acceptance.trim() } : {}),
    dependsOn: (task.depends_on ?? []).map((index) => taskId(index + 1) as TaskId),
  };
}

/** coder, test, reviewer as far as the pipeline has them, then roles that the user added. */
function defaultSteps(pipeline: readonly RoleName[]): readonly RoleName[] {
  return pipeline.filter((role) => role !== 'planner');
}

function hasCycle(plan: SubmittedPlan): boolean {
  const done = new Set<number>();
  for (let round = 0; round <= plan.tasks.length; round++) {
    for (const [index, task] of plan.tasks.entries()) {
      if ((task.depends_on ?? []).every((other) => done.has(other))) done.add(index);
    }
  }
  return done.size < plan.tasks.length;
}
