import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import { adoptObject } from '../git/loose-objects.ts';
import type { TreeDoor } from '../git/tree-door.ts';
import type { TreeEntry } from '../git/trees.ts';
import { type Anchor, anchorDirectory } from './anchor.ts';
import { GITLINK, type Inspection } from './inspect.ts';
import { readEntry } from './read-entry.ts';
import { baseName, parentPath } from './tree-path.ts';

interface RecordingPlace {
  readonly store: StoreGit;
  readonly root: string;
  readonly door: TreeDoor;
}

/**
 * The tree object of what an inspection found. The index follows the inspection exactly, so that nothing in the tree
 * (ignore files, flags, nested repositories, forged times) can hide a path.
 *
 * Git looks at a path, then opens it, following links. A process of the agent that swaps a file for a link in between
 * would have git read any file of the user's into an object, which the agent may read back. So new objects first go to
 * a quarantine, and only what equals a second read, one that follows no link, gets into the store.
 */
export async function recordTree(place: RecordingPlace, inspection: Inspection): Promise<ObjectId> {
  const { door, root } = place;
  const counted = new Set(inspection.counted);
  const directories = new Set(inspection.walk.directories);
  const before = new Map((await door.indexed()).map((entry) => [entry.path, entry]));
  const absent = [...before.values()]
    .filter(({ path, mode }) => !counted.has(path) && !(mode === GITLINK && directories.has(path)))
    .map(({ path }) => path);
  const quarantine = await mkdtemp(join(place.store.directory, 'tmp/record-'));
  try {
    const refused = await door.record({ present: inspection.counted, absent, quarantine });
    if (refused.length > 0) throw refusal(root, refused);
    const changed = (await door.indexed()).filter(({ path, blob }) => before.get(path)?.blob !== blob);
    const corrections = await verify(place, quarantine, changed);
    if (corrections.size > 0) await door.setEntries(corrections);
    return await door.writeTree();
  } catch (error) {
    await forget(door, before);
    throw error;
  } finally {
    await rm(quarantine, { recursive: true, force: true });
  }
}

/** The index may name objects that stayed in the quarantine: put back what it said before, to be read anew. */
async function forget(door: TreeDoor, before: ReadonlyMap<RepoPath, TreeEntry>): Promise<void> {
  const changed = (await door.indexed()).filter(({ path, blob }) => before.get(path)?.blob !== blob);
  await door.setEntries(new Map(changed.map(({ path }) => [path, before.get(path)])));
}

type Entries = Map<RepoPath, { mode: string; blob: ObjectId } | undefined>;

/** Lets confirmed objects into the store; what reads otherwise now is stored from that reading. */
async function verify(place: RecordingPlace, quarantine: string, changed: readonly TreeEntry[]): Promise<Entries> {
  const { store, root } = place;
  const corrections: Entries = new Map();
  for (const [directory, entries] of Map.groupBy(changed, ({ path }) => parentPath(path))) {
    const anchor = await anchorDirectory(root, directory, { make: false });
    try {
      for (const { path, mode, blob } of entries) {
        const found = anchor === undefined ? undefined : await readNamed(anchor, { path, root });
        if (found === undefined) {
          corrections.set(path, undefined);
          continue;
        }
        const confirmed = found.mode === mode && blobIdOf(found.bytes) === blob;
        if (confirmed && (await adoptObject({ quarantine, storeDirectory: store.directory, object: blob }))) continue;
        const own = await store.writeBlob(found.bytes);
        if (!confirmed) corrections.set(path, { mode: found.mode, blob: own });
      }
    } finally {
      await anchor?.close();
    }
  }
  return corrections;
}

async function readNamed(anchor: Anchor, named: { path: RepoPath; root: string }) {
  try {
    return await readEntry(anchor, baseName(named.path));
  } catch (error) {
    throw new OrchestratorError(
      'failed',
      `cannot read "${escapeForDisplay(named.path)}" of the workspace ${named.root}: ${messageOf(error)}. Nothing was judged; make it readable or remove it.`,
      { cause: error },
    );
  }
}

function blobIdOf(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function refusal(root: string, refused: readonly string[]): OrchestratorError {
  const names = refused.map((name) => `"${escapeForDisplay(name)}"`).join(', ');
  return new OrchestratorError(
    'failed',
    `git refuses to hold ${names} of the workspace ${root}. Nothing was judged; rename or remove it.`,
  );
}
