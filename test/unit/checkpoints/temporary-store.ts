import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock, RandomText } from '../../../src/domain/ids.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';

export const START = 1_790_000_000_000;

/** A real database in a directory of its own, closed and removed after the test. */
export async function openTemporaryStore(): Promise<{ store: Store; path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'orch-checkpoints-'));
  const path = join(directory, 'state.db');
  const store = await openSqliteStore({ path, nowMs: START });
  onTestFinished(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { store, path };
}

/** One millisecond a look. */
export function tickingClock(): Clock {
  let now = START;
  return {
    now() {
      now += 1;
      return now;
    },
  };
}

/** Distinct texts, the same ones in every run of a test. */
export function countingText(): RandomText {
  let count = 0;
  return (length) => {
    count += 1;
    return count.toString(36).padStart(length, '0').slice(-length);
  };
}
