import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import type { RepoPath } from '../domain/path.ts';
import { absoluteBytes } from './tree-path.ts';

/** What the never-files of a tree hold, to see at the next snapshot which are new or changed. */
export type NeverState = ReadonlyMap<RepoPath, string>;

export async function readNeverState(root: string, paths: readonly RepoPath[]): Promise<NeverState> {
  const state = new Map<RepoPath, string>();
  for (const path of paths) state.set(path, await fingerprint(absoluteBytes(root, path)));
  return state;
}

/** Paths that are there now and were not, or held something else. */
export function changedNeverPaths(before: NeverState, now: NeverState): readonly RepoPath[] {
  return [...now].filter(([path, content]) => before.get(path) !== content).map(([path]) => path);
}

/** Content where it can be read in reasonable time, else the file's identity and times; ctime cannot be forged. */
async function fingerprint(path: Buffer): Promise<string> {
  const status = await lstat(path).catch(() => undefined);
  if (status === undefined) return 'gone';
  if (status.isSymbolicLink()) return `link ${await readlink(path).catch(() => '')}`;
  const identity = `${status.mode} ${status.size}`;
  const content = status.size > MAX_HASHED_BYTES ? undefined : await hash(path);
  return content === undefined
    ? `${identity} ${status.ino} ${status.mtimeMs} ${status.ctimeMs}`
    : `${identity} ${content}`;
}

const MAX_HASHED_BYTES = 64 * 1024 * 1024;

async function hash(path: Buffer): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return createHash('sha256')
      .update(await file.readFile())
      .digest('hex');
  } finally {
    await file.close();
  }
}
