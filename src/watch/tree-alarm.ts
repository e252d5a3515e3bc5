import type { RepoPath } from '../domain/path.ts';
import type { WatchedTree, WatchListener } from './watch.ts';

/** Turns single events of one tree into debounced calls of the listener. */
export interface TreeAlarm {
  /** An event; undefined when it named no usable path. */
  ring(path: RepoPath | undefined): void;
  stop(): void;
}

interface AlarmTimes {
  /** The first event is reported at once, those of the next so many milliseconds together. */
  readonly debounceMs: number;
  /** Quiet time after the last event until the reconcile of a burst. */
  readonly settleMs: number;
  /** A reconcile comes at least this often. */
  readonly reconcileMs: number;
}

export function createTreeAlarm(tree: WatchedTree, listener: WatchListener, times: AlarmTimes): TreeAlarm {
  const paths = new Set<RepoPath>();
  let rang = false;
  let soon: NodeJS.Immediate | undefined;
  let debounce: NodeJS.Timeout | undefined;
  let settle: NodeJS.Timeout | undefined;
  const report = () => {
    soon = undefined;
    rang = false;
    const named = [...paths];
    paths.clear();
    listener.onChange(tree, named);
  };
  const reportLater = () => {
    debounce = undefined;
    if (!rang) return;
    debounce = setTimeout(reportLater, times.debounceMs);
    report();
  };
  const regular = setInterval(() => listener.onReconcile(tree), times.reconcileMs);
  return {
    ring: (path) => {
      rang = true;
      // A burst is judged by its reconcile; naming each of ten thousand paths would help nobody.
      if (path !== undefined && paths.size < MAX_NAMED_PATHS) paths.add(path);
      if (debounce === undefined) {
        debounce = setTimeout(reportLater, times.debounceMs);
        soon = setImmediate(report);
      }
      clearTimeout(settle);
      settle = setTimeout(() => listener.onReconcile(tree), times.settleMs);
    },
    stop: () => {
      clearInterval(regular);
      clearImmediate(soon);
      clearTimeout(debounce);
      clearTimeout(settle);
    },
  };
}

const MAX_NAMED_PATHS = 1000;
