import type { RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';

/** A tree that is watched: an agent's private tree, or the user's checkout. */
export interface WatchedTree {
  readonly root: string;
  readonly kind: 'workspace' | 'checkout';
  readonly run?: RunId;
  readonly task?: TaskId;
  readonly role?: RoleName;
}

/**
 * Events are an alarm clock, never the truth: `onChange` says that something changed and names paths when it can; the
 * listener snapshots. A reconcile (`onReconcile`) comes after a burst and every 30 s even without events.
 */
export interface Watcher {
  readonly mode: 'events' | 'polling';
  readonly trees: number;
  /** Milliseconds since the epoch, undefined before the first. */
  readonly lastEventAt: number | undefined;
  add(tree: WatchedTree): Promise<void>;
  remove(root: string): Promise<void>;
  stop(): Promise<void>;
}

export interface WatchListener {
  /** Paths (relative to the tree) that events named since the last call, debounced. */
  onChange(tree: WatchedTree, paths: readonly RepoPath[]): void;
  onReconcile(tree: WatchedTree): void;
  /** Watches ran out or the queue overflowed: polling from now on. */
  onDegraded(reason: string): void;
}
