import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import { alternateEntry } from './alternates.ts';
import { generatedInIndex } from './attributes.ts';
import { readBlobBytes, writeBlobBytes, writeCommit } from './blobs.ts';
import { type GitDoor, openDoor } from './command.ts';
import { copyShallow, createStore, removeStaleLocks, sweepTemporary } from './create-store.ts';
import { lineCounts, patchBetween, rawDifference } from './differences.ts';
import { diskUsage } from './disk-usage.ts';
import type { StoreGit } from './git.ts';
import { keepLatest } from './keep-latest.ts';
import { mergeCommits } from './merge.ts';
import { changeRef } from './move-ref.ts';
import { hasAncestor, listRefs, parentsOfCommit, resolveObject, treeOfCommit } from './revisions.ts';
import { STORE_CONFIG, storeEnvironment } from './store-environment.ts';
import { inspectPack, packObjects } from './transfer.ts';
import {
  findTreeEntry,
  isArgument,
  listTreeEntries,
  readTreeIntoIndex,
  setIndexEntries,
  writeIndexAsTree,
} from './trees.ts';

/** Base and current trees of what runs at one time; a large repository has megabytes of entries. */
const KEPT_LISTS = 6;
const KEPT_TREES = 200;

/** Opens the daemon's object store, making it on first use. `searchPath` is the PATH in which git is found. */
export async function openStoreGit(options: {
  readonly directory: string;
  readonly userObjects: string;
  readonly searchPath?: string;
  /** With a clock, what a crash left behind (temporary files after an hour, locks at once) is removed. */
  readonly clock?: Clock;
}): Promise<StoreGit> {
  const { directory, userObjects } = options;
  const location = { directory, userObjects, searchPath: options.searchPath };
  await createStore(location);
  if (options.clock !== undefined) {
    await sweepTemporary(directory, options.clock);
    await removeStaleLocks(directory);
  }
  const door = storeDoor(directory, options.searchPath);
  const listTree = keepLatest(KEPT_LISTS, (tree: ObjectId) => door(listTreeEntries(tree)));
  const walk: GitDoor = async (command) => {
    await copyShallow(location);
    return door(command);
  };
  return {
    directory,
    objectDirectories: [join(directory, 'objects'), userObjects],
    resolve: (revision) => door(resolveObject(revision, 'object')),
    treeOf: keepLatest(KEPT_TREES, (commit: ObjectId) => door(treeOfCommit(commit))),
    parentsOf: (commit) => walk(parentsOfCommit(commit)),
    isAncestor: (ancestor, descendant) => walk(hasAncestor(ancestor, descendant)),
    diff: (from, to) => door(rawDifference(from, to)),
    patch: (from, to, paths) => patchOf(door, directory, { from, to, paths }),
    numstat: (from, to) => door(lineCounts(from, to)),
    listTree,
    entry: (tree, path) => entryOf(door, tree, path),
    readBlob: (blob) => door(readBlobBytes(blob)),
    writeBlob: (bytes) => door(writeBlobBytes(bytes)),
    withEntries: (tree, entries) => replaceEntries(door, directory, { tree, entries }),
    commit: (commit) => door(writeCommit(commit)),
    merge: (ours, theirs) => walk(mergeCommits(ours, theirs)),
    generatedPaths: (tree) => generatedPathsOf(door, directory, { tree, listTree }),
    updateRef: (ref, next, old) => changeRef(door, { ref, next, old }),
    refs: (prefix) => door(listRefs(prefix)),
    check: (commit, known) => checkObjects(walk, directory, { commit, known }),
    diskBytes: () => diskUsage(directory),
  };
}

/** The door of the store: every daemon git call that does not touch the user's repository goes through it. */
export function storeDoor(directory: string, searchPath: string | undefined, cwd = directory): GitDoor {
  return openDoor({
    cwd,
    environment: storeEnvironment({ directory, searchPath }),
    config: STORE_CONFIG,
    subject: `the store ${directory}`,
  });
}

type Entries = ReadonlyMap<RepoPath, { mode: string; blob: ObjectId } | undefined>;

async function entryOf(door: GitDoor, tree: ObjectId, path: RepoPath) {
  const found = isArgument(path)
    ? await door(findTreeEntry(tree, path))
    : (await door(listTreeEntries(tree))).find((entry) => entry.path === path);
  return found === undefined ? undefined : { mode: found.mode, blob: found.blob };
}

/** The patch of some paths is the patch to a tree that takes over only those paths: no path is ever an argument. */
async function patchOf(
  door: GitDoor,
  directory: string,
  change: { from: ObjectId; to: ObjectId; paths: readonly RepoPath[] | undefined },
): Promise<Buffer> {
  if (change.paths === undefined) return door(patchBetween(change.from, change.to));
  const wanted = new Set(change.paths);
  const entries = new Map(
    (await door(rawDifference(change.from, change.to)))
      .filter(({ path }) => wanted.has(path))
      .map(({ path, operation, newMode, newBlob }) => [
        path,
        operation === 'delete' ? undefined : { mode: newMode, blob: newBlob as ObjectId },
      ]),
  );
  const partial = await replaceEntries(door, directory, { tree: change.from, entries });
  return door(patchBetween(change.from, partial));
}

async function replaceEntries(door: GitDoor, directory: string, change: { tree: ObjectId; entries: Entries }) {
  return withIndex(door, directory, async (indexed) => {
    await indexed(readTreeIntoIndex(change.tree));
    await indexed(setIndexEntries(change.entries));
    return indexed(writeIndexAsTree());
  });
}

async function generatedPathsOf(
  door: GitDoor,
  directory: string,
  { tree, listTree }: { tree: ObjectId; listTree: StoreGit['listTree'] },
): Promise<ReadonlySet<RepoPath>> {
  const paths = (await listTree(tree)).map((entry) => entry.path);
  if (!paths.some((path) => path === '.gitattributes' || path.endsWith('/.gitattributes'))) return new Set();
  return withIndex(door, directory, async (indexed) => {
    await indexed(readTreeIntoIndex(tree));
    return indexed(generatedInIndex(paths));
  });
}

/** Unpacks the new objects into a throw-away directory under git's strict checks. */
async function checkObjects(
  door: GitDoor,
  directory: string,
  request: { commit: ObjectId; known: readonly ObjectId[] },
): Promise<readonly string[]> {
  const quarantine = await mkdtemp(join(directory, 'tmp/check-'));
  try {
    const pack = await door({
      ...packObjects(request.commit, request.known),
      accepts: [1, 128],
      parse: (output) => output,
    });
    if (pack.exitCode !== 0) return pack.stderr.split('\n').filter((line) => line !== '');
    await mkdir(join(quarantine, 'pack'));
    const alternates = [join(directory, 'objects')];
    const command = inspectPack(pack.stdout, quarantine);
    return await door({
      ...command,
      environment: {
        ...command.environment,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.map(alternateEntry).join(':'),
      },
    });
  } finally {
    await rm(quarantine, { recursive: true, force: true });
  }
}

/** Runs commands against a private index that is gone afterwards. */
async function withIndex<Result>(
  door: GitDoor,
  directory: string,
  use: (indexed: GitDoor) => Promise<Result>,
): Promise<Result> {
  const scratch = await mkdtemp(join(directory, 'tmp/index-'));
  try {
    const environment = { GIT_INDEX_FILE: join(scratch, 'index') };
    return await use((command) => door({ ...command, environment: { ...command.environment, ...environment } }));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
