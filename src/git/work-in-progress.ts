import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { pathFromBytes, splitNul } from '../domain/path.ts';
import { type GitDoor, ignoreOutput } from './command.ts';
import { nulTerminated, readTreeIntoIndex, writeIndexAsTree } from './trees.ts';

/**
 * The tree of the uncommitted work, tracked and untracked, as `git add --all` of the user would make it, but in a copy
 * of the index and with new objects in the store. Nested repositories are left out: git records no content of them.
 */
export async function writeWorkInProgressTree(
  door: GitDoor,
  options: { readonly gitDirectory: string; readonly storeDirectory: string; readonly head: ObjectId },
): Promise<ObjectId> {
  const scratch = await mkdtemp(join(options.storeDirectory, 'tmp/wip-'));
  try {
    const environment = {
      GIT_INDEX_FILE: join(scratch, 'index'),
      GIT_OBJECT_DIRECTORY: join(options.storeDirectory, 'objects'),
    };
    const indexed: GitDoor = (command) => door({ ...command, environment: { ...command.environment, ...environment } });
    const copied = await copyFile(join(options.gitDirectory, 'index'), environment.GIT_INDEX_FILE).then(
      () => true,
      () => false,
    );
    if (!copied) await indexed(readTreeIntoIndex(options.head));
    await indexed({ args: ['add', '--update'], parse: ignoreOutput });
    const untracked = await indexed({
      args: ['ls-files', '--others', '--exclude-standard', '-z'],
      parse: ({ stdout }) => splitNul(stdout).map(pathFromBytes),
    });
    const files = untracked.filter((path) => !path.endsWith('/'));
    await indexed({
      args: ['update-index', '--add', '-z', '--stdin'],
      input: nulTerminated(files),
      parse: ignoreOutput,
    });
    return await indexed(writeIndexAsTree());
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
