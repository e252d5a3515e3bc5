import type { RunId, TaskId } from '../domain/ids.ts';
import type { Task } from '../domain/run.ts';
import type { Store } from '../store/store.ts';
import { readRun } from './records.ts';

/** Whether neither of two tasks started from the other's result; only then can their changes collide. */
export function isIndependent(store: Store, run: RunId, first: TaskId, second: TaskId): boolean {
  const tasks = readRun(store, run)?.tasks ?? [];
  const one = tasks.find((task) => task.id === first);
  const other = tasks.find((task) => task.id === second);
  if (one === undefined || other === undefined || !isOpen(one) || !isOpen(other)) return false;
  const builtOn = (task: typeof one, id: TaskId): boolean =>
    task.after.includes(id) || task.plan.dependsOn.includes(id);
  // A base that differs from the run's base holds results of earlier tasks: those were merged in, not raced with.
  return !builtOn(one, second) && !builtOn(other, first) && one.base === other.base;
}

/** At work, or ended well and waiting for the merge. */
function isOpen(task: Task): boolean {
  return task.state === 'queued' || task.state === 'running' || task.state === 'ready';
}
