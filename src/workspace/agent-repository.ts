import { appendFile, copyFile, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { alternateEntry } from '../git/alternates.ts';
import { ignoreOutput, openDoor } from '../git/command.ts';
import type { StoreGit } from '../git/git.ts';
import { ALWAYS_IGNORED, RAW_ATTRIBUTES, storeEnvironment } from '../git/store-environment.ts';
import { openTreeDoor } from '../git/tree-door.ts';
import { removeTree } from './remove-tree.ts';

/**
 * Gives the agent a git repository of its own: HEAD detached at `commit`, objects borrowed, an index that knows the
 * files, no hooks, no identity. It is built beside the tree and moved in, so that nothing in the tree can divert it.
 * The daemon never runs git with it.
 */
export async function installAgentRepository(options: {
  readonly store: StoreGit;
  readonly searchPath: string | undefined;
  readonly slotDirectory: string;
  readonly root: string;
  readonly index: string;
  readonly commit: ObjectId;
  readonly tree: ObjectId;
  readonly shallowFile: string | undefined;
}): Promise<void> {
  const { store, root } = options;
  const building = join(options.slotDirectory, 'building');
  await removeTree(Buffer.from(building));
  await mkdir(building, { mode: 0o700 });
  const { GIT_DIR: _, ...environment } = storeEnvironment({
    directory: store.directory,
    searchPath: options.searchPath,
  });
  const door = openDoor({ cwd: building, environment, subject: building });
  await door({ args: ['init', '--quiet', '--template=', building], parse: ignoreOutput });
  const git = join(building, '.git');
  await mkdir(join(git, 'info'));
  await mkdir(join(git, 'objects/info'), { recursive: true });
  await writeFile(join(git, 'objects/info/alternates'), `${store.objectDirectories.map(alternateEntry).join('\n')}\n`);
  await writeFile(join(git, 'info/exclude'), `${ALWAYS_IGNORED.join('\n')}\n`);
  await writeFile(join(git, 'info/attributes'), RAW_ATTRIBUTES);
  await appendFile(join(git, 'config'), '[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n');
  await writeFile(join(git, 'HEAD'), `${options.commit}\n`);
  if (options.shallowFile !== undefined && (await stat(options.shallowFile).catch(() => undefined))?.isFile()) {
    await copyFile(options.shallowFile, join(git, 'shallow'));
  }
  await copyIndex(options, join(git, 'index'));
  await removeTree(Buffer.from(join(root, '.git')));
  await rename(git, join(root, '.git'));
  await removeTree(Buffer.from(building));
}

/** The agent's index is that of its HEAD; where the files are of another tree, they show as its own changes. */
async function copyIndex(
  options: {
    store: StoreGit;
    searchPath: string | undefined;
    root: string;
    index: string;
    commit: ObjectId;
    tree: ObjectId;
  },
  target: string,
): Promise<void> {
  await copyFile(options.index, target);
  const committed = await options.store.treeOf(options.commit);
  if (committed === options.tree) return;
  const { store, root, searchPath } = options;
  const door = openTreeDoor({ storeDirectory: store.directory, workTree: root, index: target, searchPath });
  await door.resetIndex(committed);
}
