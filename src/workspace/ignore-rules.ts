import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import { openTreeDoor } from '../git/tree-door.ts';
import { removeTree } from './remove-tree.ts';
import { absoluteBytes, baseName, parentPath } from './tree-path.ts';

/** Which untracked paths count as ignored: by the base tree's rules, never by files that an agent wrote. */
export interface IgnoreRules {
  readonly base: ObjectId;
  ignored(paths: readonly RepoPath[]): Promise<ReadonlySet<RepoPath>>;
}

/**
 * Git reads `.gitignore` files only from a work tree. So a shadow directory holds those of the base tree and nothing
 * else, and git is asked about paths in there. An answer depends on the path and the base alone, hence the memory.
 */
export async function openIgnoreRules(options: {
  readonly store: StoreGit;
  readonly base: ObjectId;
  readonly shadow: string;
  readonly searchPath: string | undefined;
}): Promise<IgnoreRules> {
  const { store, base, shadow } = options;
  await removeTree(Buffer.from(shadow));
  await mkdir(shadow, { recursive: true, mode: 0o700 });
  for (const entry of await store.listTree(base)) {
    if (baseName(entry.path) !== '.gitignore' || !entry.mode.startsWith('100')) continue;
    const parent = parentPath(entry.path);
    if (parent !== undefined) await mkdir(absoluteBytes(shadow, parent), { recursive: true });
    await writeFile(absoluteBytes(shadow, entry.path), await store.readBlob(entry.blob));
  }
  const door = openTreeDoor({
    storeDirectory: store.directory,
    workTree: shadow,
    index: `${dirname(shadow)}/no-index`,
    searchPath: options.searchPath,
  });
  const answers = new Map<RepoPath, boolean>();
  return {
    base,
    ignored: async (paths) => {
      const unknown = paths.filter((path) => !answers.has(path));
      if (unknown.length > 0) {
        const ignored = new Set(await door.ignored(unknown));
        for (const path of unknown) answers.set(path, ignored.has(path));
      }
      return new Set(paths.filter((path) => answers.get(path) === true));
    },
  };
}
