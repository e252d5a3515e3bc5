/** At most `max` calls at once for each real key; the others wait in the order in which they came. */
export interface InFlightLimit {
  /** Resolves to the release (which counts once), or to undefined when the signal aborted first. */
  acquire(key: string, signal: AbortSignal): Promise<(() => void) | undefined>;
}

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

export function createInFlightLimit(max: number): InFlightLimit {
  const lanes = new Map<string, Lane>();
  return {
    async acquire(key, signal) {
      if (signal.aborted) return undefined;
      const lane = lanes.get(key) ?? { running: 0, waiting: [] };
      lanes.set(key, lane);
      if (lane.running < max) lane.running++;
      else if (!(await hasTurn(lane, signal))) return undefined;
      return releaseOnce(lane);
    },
  };
}

function hasTurn(lane: Lane, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const takeTurn = () => resolve(true);
    lane.waiting.push(takeTurn);
    signal.addEventListener(
      'abort',
      () => {
        const index = lane.waiting.indexOf(takeTurn);
        if (index === -1) return;
        lane.waiting.splice(index, 1);
        resolve(false);
      },
      { once: true },
    );
  });
}

/** The place passes to the next in line without becoming free in between. */
function releaseOnce(lane: Lane): () => void {
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    const next = lane.waiting.shift();
    if (next === undefined) lane.running--;
    else next();
  };
}
