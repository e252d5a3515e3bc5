import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import type { RepoPath } from '../domain/path.ts';
import type { Anchor } from './anchor.ts';
import { absoluteBytes } from './tree-path.ts';

/**
 * A file's or link's content as git would hold it, read without following a link. Undefined for what is gone or is
 * neither; whoever swaps the entry while it is read gets the same answer.
 */
export async function readEntry(
  anchor: Anchor,
  name: RepoPath,
): Promise<{ readonly mode: string; readonly bytes: Buffer } | undefined> {
  const path = absoluteBytes(anchor.path, name);
  const status = await lstat(path).catch(() => undefined);
  if (status?.isSymbolicLink()) {
    const bytes = await readlink(path, { encoding: 'buffer' }).catch(() => undefined);
    return bytes === undefined ? undefined : { mode: '120000', bytes };
  }
  if (!status?.isFile()) return undefined;
  // A FIFO that took the file's place would block the open without O_NONBLOCK.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ELOOP' || error.code === 'ENXIO') return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const opened = await file.stat();
    if (!opened.isFile()) return undefined;
    return { mode: opened.mode & 0o100 ? '100755' : '100644', bytes: await file.readFile() };
  } finally {
    await file.close();
  }
}
