import { statSync } from 'node:fs';
import type { FSWatcher } from 'chokidar';

/** Watches of workspaces between two steps: placing one anew takes longer than anything else a step begins with. */
export interface RestingWatches {
  keep(root: string, watch: PlacedWatch): void;
  /** The watch of this root, if it still watches the directory that lies there. */
  wake(root: string): FSWatcher | undefined;
  closeAll(): Promise<void>;
}

export interface PlacedWatch {
  readonly events: FSWatcher;
  /** Of the directory that is watched (`directoryIdentity`): another one in its place is another tree. */
  readonly identity: string;
}

export function createRestingWatches(): RestingWatches {
  const resting = new Map<string, PlacedWatch>();
  return {
    keep: (root, watch) => void resting.set(root, watch),
    wake(root) {
      const found = resting.get(root);
      resting.delete(root);
      if (found === undefined || found.identity === directoryIdentity(root)) return found?.events;
      void found.events.close();
      return undefined;
    },
    async closeAll() {
      const all = [...resting.values()];
      resting.clear();
      await Promise.all(all.map(({ events }) => events.close()));
    },
  };
}

export function directoryIdentity(root: string): string {
  const status = statSync(root, { throwIfNoEntry: false });
  return status === undefined ? 'gone' : `${status.dev} ${status.ino}`;
}
