import { mkdir, realpath } from 'node:fs/promises';
import type { ObjectId, RunId } from '../domain/ids.ts';
import { diskUsage } from '../git/disk-usage.ts';
import { openWorkspace } from './open-workspace.ts';
import { fillSlot, freshMemory, type PoolOptions, type Slot, type SlotMemory, slotAt } from './slot.ts';
import type { WorkspacePool } from './workspace.ts';

interface Place {
  readonly slot: Slot;
  readonly taken: boolean;
  /** Who used it last: its build products fit that run best. */
  readonly run: RunId | undefined;
  readonly memory: SlotMemory;
}

/** Opens the slots below `directory`. One pool a directory: the daemon's lock sees to that. */
export async function openWorkspacePool(given: PoolOptions): Promise<WorkspacePool> {
  await mkdir(given.directory, { recursive: true, mode: 0o700 });
  const options = { ...given, directory: await realpath(given.directory) };
  const places: Place[] = Array.from({ length: options.slots }, (_, index) => {
    const slot = slotAt(options.directory, `slot-${index + 1}`);
    return { slot, taken: false, run: undefined, memory: freshMemory(options, slot) };
  });
  const change = (slot: Slot, patch: Partial<Place>): void => {
    const index = places.findIndex((place) => place.slot === slot);
    const place = places[index];
    if (place !== undefined) places[index] = { ...place, ...patch };
  };
  let measured: { readonly at: number; readonly bytes: Promise<number> } | undefined;
  return {
    get free() {
      return places.filter((place) => !place.taken).length;
    },
    acquire: async (owner, start) => {
      const place = chooseFree(places, owner.run);
      if (place === undefined) return undefined;
      const { slot } = place;
      change(slot, { taken: true });
      try {
        const prepared = await fillSlot(options, slot, { owner, start, known: place.memory });
        const { door, rules } = prepared.context;
        const release = (tree: ObjectId) => change(slot, { taken: false, memory: { door, rules, tree } });
        change(slot, { run: owner.run });
        return openWorkspace(options, slot, { owner, start, prepared, release });
      } catch (error) {
        change(slot, { taken: false, memory: freshMemory(options, slot) });
        throw error;
      }
    },
    diskBytes: () => {
      const now = options.clock.now();
      if (measured === undefined || now - measured.at >= DISK_USAGE_AGE_MS) {
        measured = { at: now, bytes: diskUsage(options.directory) };
      }
      return measured.bytes;
    },
  };
}

const DISK_USAGE_AGE_MS = 5_000;

function chooseFree(places: readonly Place[], run: RunId): Place | undefined {
  const free = places.filter((place) => !place.taken);
  return free.find((place) => place.run === run) ?? free.find((place) => place.run !== undefined) ?? free[0];
}
