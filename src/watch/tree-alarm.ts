import type { RepoPath } from '../domain/path.ts';
import type { WatchedTree, WatchListener } from './watch.ts';

/** Turns single events of one tree into debounced calls of the listener. */
export interface TreeAlarm {
  /** An event; undefined when it named no usable path. */
  ring(path: RepoPath | undefined): void;
  stop(): void;
}

interface AlarmTimes {
  readonly debounceMs: number;
  /** Quiet time after the last event until the reconcile of a burst. */
  readonly settleMs: number;
  /** A reconcile comes at least this often. */
  readonly reconcileMs: number;
}

export function createTreeAlarm(tree: WatchedTree, listener: WatchListener, times: AlarmTimes): TreeAlarm {
  const paths = new Set<RepoPath>();
  let debounce: NodeJS.Timeout | undefined;
  let settle: NodeJS.Timeout | undefined;
  const report = () => {
    debounce = undefined;
    const named = [...paths];
    paths.clear();
    listener.onChange(tree, named);
  };
  const regular = setInterval(() => listener.onReconcile(tree), times.reconcileMs);
  return {
    ring: (path) => {
      // A burst is judged by its reconcile; naming each of ten thousand paths would help nobody.
      if (path !== undefined && paths.size < MAX_NAMED_PATHS) paths.add(path);
      debounce ??= setTimeout(report, times.debounceMs);
      clearTimeout(settle);
      settle = setTimeout(() => listener.onReconcile(tree), times.settleMs);
    },
    stop: () => {
      clearInterval(regular);
      clearTimeout(debounce);
      clearTimeout(settle);
    },
  };
}

const MAX_NAMED_PATHS = 1000;
