import { escapeForDisplay, quoteLines } from '../domain/escape.ts';
import type { RoleName } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Task } from '../domain/run.ts';
import { PLAN_TASK } from '../domain/run.ts';
import type { Write } from '../store/store.ts';
import { bindingOf, contentHash } from './binding.ts';
import { estimateOf } from './estimate.ts';
import { standIn } from './overlap.ts';
import { readRun, taskWrite } from './records.ts';
import type { Session } from './session.ts';

/** Opens `plan` for the tasks that the planner submitted, or lets them start when the policy says `plan: auto`. */
export async function planWrites(session: Session, planTask: Task): Promise<readonly Write[]> {
  const { engine, run } = session;
  const tasks = (readRun(engine.store, run.id)?.tasks ?? []).filter((task) => task.id !== PLAN_TASK);
  const outside = tasks.flatMap((task) => outsidePaths(session, task).map((glob) => `${task.id}: ${glob}`));
  const estimate = estimateOf(engine, run, tasks);
  if (engine.policies.pinned(run).global.checkpoints.plan === 'auto' && outside.length === 0 && estimate.withinBudget) {
    return [taskWrite({ ...planTask, state: 'ready' })];
  }
  const body = [
    ...tasks.flatMap(describe),
    ...(outside.length === 0
      ? []
      : [
          '',
          "Expected paths outside every boundary of the task's roles:",
          ...outside.map((line) => `  ${escapeForDisplay(line)}`),
        ]),
    '',
    estimate.text,
  ].join('\n');
  const { writes } = engine.checkpoints.prepare({
    kind: 'plan',
    run: run.id,
    task: PLAN_TASK,
    role: session.step.role,
    attempt: session.step.attempt,
    summary: `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}: ${tasks.map((task) => task.plan.title).join('; ')}`,
    body,
    findings: session.step.remarks,
    binding: await bindingOf(engine, run, {
      action: 'plan',
      content: contentHash(
        'plan',
        tasks.map((task) => task.plan),
      ),
      paths: tasks.flatMap((task) => task.plan.expectedPaths as readonly RepoPath[]),
    }),
    payload: { tasks: tasks.map((task) => ({ id: task.id, title: task.plan.title })) },
  });
  return [...writes, taskWrite({ ...planTask, state: 'paused' })];
}

function describe(task: Task): readonly string[] {
  const { plan } = task;
  return [
    `${task.id} ${plan.title}`,
    `  steps: ${plan.steps.join(' → ')}${plan.dependsOn.length > 0 ? `, after ${plan.dependsOn.join(', ')}` : ''}`,
    `  expects to touch: ${escapeForDisplay(plan.expectedPaths.join(', ')) || '(nothing named)'}`,
    ...(plan.acceptance === undefined ? [] : [`  acceptance: ${escapeForDisplay(plan.acceptance)}`]),
    ...quoteLines(plan.instructions),
  ];
}

/** Expected globs that no role of the task may write or ask for. */
function outsidePaths(session: Session, task: Task): readonly string[] {
  return task.plan.expectedPaths.filter((glob) => !task.plan.steps.some((role) => mayTouch(session, role, glob)));
}

function mayTouch(session: Session, role: RoleName, glob: string): boolean {
  const { decision } = session.decider.decide(role, 'create', standIn(glob) as RepoPath);
  return decision === 'write' || decision === 'ask';
}
