import { messageOf } from '../domain/errors.ts';
import type { Clock } from '../domain/ids.ts';
import type { Log } from './engine.ts';

/** What to do when a watched tree changes; events are an alarm clock, so a look may come too often but not too late. */
export interface Lookouts {
  open(root: string, look: () => Promise<void>): void;
  close(root: string): void;
  /** Looks at a tree, unless that was done a moment ago or is being done: the turn's end looks in any case. */
  alarm(root: string): void;
}

const MOMENT_MS = 1500;

export function createLookouts(clock: Clock, log: Log): Lookouts {
  const posts = new Map<string, { readonly look: () => Promise<void>; lookedAt: number; busy: boolean }>();
  return {
    open(root, look) {
      posts.set(root, { look, lookedAt: Number.NEGATIVE_INFINITY, busy: false });
    },
    close(root) {
      posts.delete(root);
    },
    alarm(root) {
      const post = posts.get(root);
      if (post === undefined || post.busy || clock.now() - post.lookedAt < MOMENT_MS) return;
      post.busy = true;
      post.lookedAt = clock.now();
      post
        .look()
        .catch((error: unknown) => log.warn({ root, error: messageOf(error) }, 'a look between turns failed'))
        .finally(() => {
          post.busy = false;
        });
    },
  };
}
