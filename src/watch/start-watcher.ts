import { relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { OrchestratorError } from '../domain/errors.ts';
import type { Clock } from '../domain/ids.ts';
import { normalizeRepoPath, type RepoPath } from '../domain/path.ts';
import { createRestingWatches, directoryIdentity, type PlacedWatch } from './resting-watches.ts';
import { createTreeAlarm, type TreeAlarm } from './tree-alarm.ts';
import type { WatchedTree, Watcher, WatchListener } from './watch.ts';

interface WatcherOptions {
  readonly listener: WatchListener;
  readonly clock: Clock;
  readonly debounceMs?: number;
  readonly reconcileMs?: number;
  /** How often trees are reconciled once events cannot be relied on. */
  readonly pollMs?: number;
}

interface Watch {
  readonly tree: WatchedTree;
  readonly alarm: TreeAlarm;
  /** Undefined while polling. */
  readonly placed: PlacedWatch | undefined;
}

/** Starts without trees. `stop` ends every watch and timer. */
export function startWatcher(options: WatcherOptions): Watcher {
  const { listener, clock } = options;
  const debounceMs = options.debounceMs ?? 100;
  const reconcileMs = options.reconcileMs ?? 30_000;
  const pollMs = Math.min(options.pollMs ?? 5_000, reconcileMs);
  const watches = new Map<string, Watch>();
  const resting = createRestingWatches();
  let mode: Watcher['mode'] = 'events';
  let lastEventAt: number | undefined;
  let stopped = false;

  const alarmFor = (tree: WatchedTree): TreeAlarm =>
    createTreeAlarm(tree, listener, {
      debounceMs,
      settleMs: debounceMs * 5,
      reconcileMs: mode === 'polling' ? pollMs : reconcileMs,
    });

  /** The first shortage ends all events: a watch that sees a part is worse than none, and it never recovers by itself. */
  const degrade = (reason: string): void => {
    if (mode === 'polling' || stopped) return;
    mode = 'polling';
    for (const [root, { tree, alarm, placed }] of watches) {
      alarm.stop();
      void placed?.events.close();
      watches.set(root, { tree, alarm: alarmFor(tree), placed: undefined });
    }
    void resting.closeAll();
    listener.onDegraded(reason);
  };

  const listen = async (root: string, events: FSWatcher): Promise<void> => {
    events.on('all', (_event, path) => {
      const watch = watches.get(root);
      if (watch === undefined) return;
      lastEventAt = clock.now();
      watch.alarm.ring(repoPathOf(root, path));
    });
    await untilReady(events, (error) => {
      const reason = shortageOf(error, root);
      if (reason !== undefined) degrade(reason);
      else watches.get(root)?.alarm.ring(undefined); // one directory that cannot be watched: look for ourselves
    });
  };

  return {
    get mode() {
      return mode;
    },
    get trees() {
      return watches.size;
    },
    get lastEventAt() {
      return lastEventAt;
    },
    add: async (tree) => {
      if (stopped) throw new OrchestratorError('failed', `cannot watch ${tree.root}: the watcher was stopped`);
      if (watches.has(tree.root)) return;
      const { root } = tree;
      const kept = resting.wake(root);
      const events = kept ?? (mode === 'events' ? openEvents(root) : undefined);
      const placed = events === undefined ? undefined : { events, identity: directoryIdentity(root) };
      watches.set(root, { tree, alarm: alarmFor(tree), placed });
      if (events !== undefined && kept === undefined) await listen(root, events);
    },
    remove: async (root) => {
      const found = watches.get(root);
      watches.delete(root);
      found?.alarm.stop();
      if (found?.placed === undefined) return;
      if (found.tree.kind === 'workspace') resting.keep(root, found.placed);
      else await found.placed.events.close();
    },
    stop: async () => {
      stopped = true;
      const all = [...watches.values()];
      watches.clear();
      for (const { alarm } of all) alarm.stop();
      await Promise.all([resting.closeAll(), ...all.map(({ placed }) => placed?.events.close())]);
    },
  };
}

function openEvents(root: string): FSWatcher {
  return watch(root, {
    ignoreInitial: true,
    followSymlinks: false,
    persistent: true,
    atomic: false,
    ignored: (path) => relative(root, path).split(sep).includes('.git'),
  });
}

/** Resolves when watching began, or when the first error showed that it never will. Errors are always listened to. */
async function untilReady(events: FSWatcher, onError: (error: unknown) => void): Promise<void> {
  await new Promise<void>((resolve) => {
    events.on('error', (error) => {
      onError(error);
      resolve();
    });
    events.on('ready', () => resolve());
  });
}

/** Undefined for names that are not UTF-8: chokidar has only their replacement characters. The reconcile sees them. */
function repoPathOf(root: string, path: string): RepoPath | undefined {
  return path.includes('\ufffd') ? undefined : normalizeRepoPath(relative(root, path).split(sep).join('/'));
}

/** Undefined for errors that concern single paths (no permission, vanished meanwhile). */
function shortageOf(error: unknown, root: string): string | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOSPC':
      return `no inotify watches left for ${root}; raise fs.inotify.max_user_watches`;
    case 'EMFILE':
    case 'ENFILE':
      return `no inotify instances or file descriptors left for ${root}; raise fs.inotify.max_user_instances or ulimit -n`;
    case 'ENOMEM':
      return `no memory left to watch ${root}`;
  }
  return undefined;
}
