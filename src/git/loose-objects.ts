import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ObjectId } from '../domain/ids.ts';

/** Moves one object from a quarantine directory into the store. False when it does not lie there as a loose object. */
export async function adoptObject(options: {
  readonly quarantine: string;
  readonly storeDirectory: string;
  readonly object: ObjectId;
}): Promise<boolean> {
  const name = join(options.object.slice(0, 2), options.object.slice(2));
  const target = join(options.storeDirectory, 'objects', name);
  await mkdir(dirname(target), { recursive: true });
  return rename(join(options.quarantine, name), target).then(
    () => true,
    () => false,
  );
}
