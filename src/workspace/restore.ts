import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import type { TreeEntry } from '../git/trees.ts';
import { type Anchor, anchorDirectory } from './anchor.ts';
import { removeTree } from './remove-tree.ts';
import { absoluteBytes, baseName, directoriesAbove, parentPath } from './tree-path.ts';

/**
 * Makes some paths equal to those of a tree. Every step happens in a held directory that was reached without following
 * a link; files are written beside and renamed over, so that a hard link elsewhere keeps its content.
 */
export async function restorePaths(
  root: string,
  options: { readonly store: StoreGit; readonly tree: ObjectId; readonly paths: readonly RepoPath[] },
): Promise<void> {
  const { store } = options;
  const entries = new Map((await store.listTree(options.tree)).map((entry) => [entry.path, entry]));
  const needed = directoriesAbove(entries.keys());
  for (const path of options.paths.filter((candidate) => !entries.has(candidate))) {
    await removePath(root, path, needed);
  }
  for (const path of options.paths) {
    const entry = entries.get(path);
    if (entry !== undefined) await writePath(root, entry, store);
  }
}

async function removePath(root: string, path: RepoPath, needed: ReadonlySet<RepoPath>): Promise<void> {
  const parent = parentPath(path);
  const anchor = await anchorDirectory(root, parent, { make: false });
  if (anchor === undefined) return; // a parent is gone or is no directory: so is the path
  try {
    const target = absoluteBytes(anchor.path, baseName(path));
    const found = await lstat(target).catch(() => undefined);
    if (found?.isDirectory())
      await rmdir(target).catch(() => undefined); // what is in there has paths of its own
    else if (found !== undefined) await unlink(target);
  } finally {
    await anchor.close();
  }
  if (parent !== undefined && !needed.has(parent)) await removeEmptyDirectory(root, parent, needed);
}

async function removeEmptyDirectory(root: string, path: RepoPath, needed: ReadonlySet<RepoPath>): Promise<void> {
  const parent = parentPath(path);
  const anchor = await anchorDirectory(root, parent, { make: false });
  if (anchor === undefined) return;
  let removed = true;
  try {
    await rmdir(absoluteBytes(anchor.path, baseName(path))).catch(() => {
      removed = false;
    });
  } finally {
    await anchor.close();
  }
  if (removed && parent !== undefined && !needed.has(parent)) await removeEmptyDirectory(root, parent, needed);
}

async function writePath(root: string, entry: TreeEntry, store: StoreGit): Promise<void> {
  const anchor = await anchorDirectory(root, parentPath(entry.path), { make: true });
  if (anchor === undefined) return;
  try {
    if (entry.mode === '160000') return await makeDirectory(anchor, entry);
    const bytes = await store.readBlob(entry.blob);
    const target = absoluteBytes(anchor.path, baseName(entry.path));
    const temporary = absoluteBytes(anchor.path, `.restore-${entry.blob.slice(0, 12)}` as RepoPath);
    await removeTree(temporary);
    await writeNew(temporary, entry, bytes);
    if ((await lstat(target).catch(() => undefined))?.isDirectory()) await removeTree(target);
    await rename(temporary, target);
  } finally {
    await anchor.close();
  }
}

async function writeNew(path: Buffer, entry: TreeEntry, bytes: Buffer): Promise<void> {
  switch (entry.mode) {
    case '120000':
      return symlink(bytes, path);
    case '100644':
    case '100755': {
      const mode = entry.mode === '100755' ? 0o755 : 0o644;
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      const file = await open(path, flags, mode);
      try {
        await file.writeFile(bytes);
        await file.chmod(mode);
      } finally {
        await file.close();
      }
      return;
    }
  }
  throw new OrchestratorError(
    'failed',
    `cannot restore "${escapeForDisplay(entry.path)}": mode ${entry.mode} is unknown`,
  );
}

async function makeDirectory(anchor: Anchor, entry: TreeEntry): Promise<void> {
  const target = absoluteBytes(anchor.path, baseName(entry.path));
  const found = await lstat(target).catch(() => undefined);
  if (found?.isDirectory()) return chmod(target, 0o755);
  if (found !== undefined) await unlink(target);
  await mkdir(target);
}
