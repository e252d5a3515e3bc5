import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, stat, unlink } from 'node:fs/promises';
import { OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { RepoPath } from '../domain/path.ts';
import { absoluteBytes } from './tree-path.ts';

/**
 * A directory inside an agent's tree, held so that a path change above it cannot lead elsewhere.
 *
 * Node has no openat(2). On Linux each component is opened with O_NOFOLLOW below `/proc/self/fd/<parent>`, which is the
 * same thing: `path` stays this very directory whatever is renamed or linked later. Elsewhere `path` is the plain path
 * after every component was seen to be a real directory; a writer that is still alive could win that race.
 */
export interface Anchor {
  readonly path: Buffer;
  close(): Promise<void>;
}

/**
 * `make`: missing components are made, and a link or file in the way is removed first (it is unlinked, its target is
 * untouched). Without it the answer is undefined when a component is missing or is no directory.
 */
export async function anchorDirectory(
  root: string,
  directory: RepoPath | undefined,
  options: { readonly make: boolean },
): Promise<Anchor | undefined> {
  let current = await openAnchor(Buffer.from(root));
  if (current === undefined) {
    throw new OrchestratorError('failed', `the workspace ${root} is gone or is no directory any more`);
  }
  for (const name of directory === undefined ? [] : directory.split('/')) {
    const parent = current;
    try {
      const path = absoluteBytes(parent.path, name as RepoPath);
      if (options.make) await ensureDirectory(path);
      current = await openAnchor(path);
    } finally {
      await parent.close();
    }
    if (current === undefined) {
      if (!options.make) return undefined;
      throw new OrchestratorError(
        'failed',
        `"${escapeForDisplay(directory ?? '')}" keeps changing in ${root}; stop its processes`,
      );
    }
  }
  return current;
}

async function openAnchor(path: Buffer): Promise<Anchor | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  const held = Buffer.from(`/proc/self/fd/${handle.fd}`);
  const usable = await stat(held).then(
    () => true,
    () => false,
  );
  return { path: usable ? held : path, close: () => handle.close() };
}

async function ensureDirectory(path: Buffer): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (found !== undefined) await unlink(path);
  await mkdir(path);
}
