import { chmod, lstat, readdir, rmdir, unlink } from 'node:fs/promises';
import { pathFromBytes } from '../domain/path.ts';
import { absoluteBytes } from './tree-path.ts';

/** Removes a file, link or whole directory, also read-only ones. Links are unlinked, never followed. Absent is fine. */
export async function removeTree(path: Buffer): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isDirectory()) return unlink(path);
  if ((found.mode & 0o700) !== 0o700) await chmod(path, 0o700);
  for (const name of await readdir(path, { encoding: 'buffer' })) {
    await removeTree(absoluteBytes(path, pathFromBytes(name)));
  }
  await rmdir(path);
}
