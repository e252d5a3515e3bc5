import type { Clock, RunId } from '../domain/ids.ts';

/** Time in which at least one agent of a run worked; agents side by side count once, waiting and suspend not at all. */
export interface RunClock {
  enter(run: RunId): void;
  /** Milliseconds of the stretch that ends when the last agent leaves; 0 while others go on. */
  leave(run: RunId): number;
  /** Milliseconds of the stretch that is going on. */
  running(run: RunId): number;
}

export function createRunClock(clock: Clock): RunClock {
  const stretches = new Map<RunId, { readonly since: number; readonly agents: number }>();
  const running = (run: RunId): number => Math.max(0, clock.now() - (stretches.get(run)?.since ?? clock.now()));
  return {
    running,
    enter(run) {
      const stretch = stretches.get(run);
      stretches.set(run, { since: stretch?.since ?? clock.now(), agents: (stretch?.agents ?? 0) + 1 });
    },
    leave(run) {
      const stretch = stretches.get(run);
      if (stretch === undefined) return 0;
      if (stretch.agents > 1) {
        stretches.set(run, { ...stretch, agents: stretch.agents - 1 });
        return 0;
      }
      const ms = running(run);
      stretches.delete(run);
      return ms;
    },
  };
}
