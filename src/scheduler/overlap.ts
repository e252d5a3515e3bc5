import micromatch from 'micromatch';
import type { Task } from '../domain/run.ts';

/**
 * Whether the expected globs of two tasks meet: on a tracked path, on each other's literal text, or on a stand-in for a
 * file that does not exist yet. For scheduling only: two tasks that meet run one after the other.
 */
export function expectedPathsOverlap(first: Task, second: Task, trackedPaths: readonly string[]): boolean {
  const left = first.plan.expectedPaths;
  const right = second.plan.expectedPaths;
  if (left.length === 0 || right.length === 0) return false;
  const touchesLeft = anyOf(left);
  const touchesRight = anyOf(right);
  const candidates = [...left.map(standIn), ...right.map(standIn), ...trackedPaths];
  return candidates.some((path) => touchesLeft(path) && touchesRight(path));
}

/** A path that the glob would match: `src/**` -> `src/x`, `Lib/*.py` -> `Lib/x.py`. */
export function standIn(glob: string): string {
  return glob
    .replace(/\{([^,{}]*)[^{}]*\}/g, '$1')
    .replace(/\*+/g, 'x')
    .replace(/\?/g, 'x');
}

function anyOf(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob) => micromatch.matcher(glob, { dot: true }));
  return (path) => matchers.some((matches) => matches(path));
}
