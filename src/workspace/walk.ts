import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { messageOf, OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import { pathFromBytes, type RepoPath } from '../domain/path.ts';
import { isGitName } from './git-names.ts';
import { absoluteBytes, childPath } from './tree-path.ts';

/** What lies in a tree, by type; the top's own `.git` is left out. Links are listed, never followed. */
export interface TreeWalk {
  /** Regular files and links. */
  readonly files: readonly RepoPath[];
  /** FIFOs, sockets, devices: git cannot hold them. */
  readonly special: readonly RepoPath[];
  /** Entries below the top that are named `.git`, also in disguise. Not descended into. */
  readonly gitEntries: readonly RepoPath[];
  /** Parents come before children. */
  readonly directories: readonly RepoPath[];
}

/**
 * Walks a tree and fails closed: what cannot be read, another file system below the top, or more than a million entries
 * is an error that names the path. With `repair`, directories that their owner may not enter are opened first.
 */
export async function walkTree(
  root: string,
  options: { readonly opaque: ReadonlySet<RepoPath>; readonly repair: boolean },
): Promise<TreeWalk> {
  const found = { files: [], special: [], gitEntries: [], directories: [] } as MutableWalk;
  const device = lstatSync(root).dev;
  let level: (RepoPath | undefined)[] = [undefined];
  let entries = 0;
  while (level.length > 0) {
    const next: RepoPath[] = [];
    for (let start = 0; start < level.length; start += READS_AT_ONCE) {
      // Synchronous reads take a third of the CPU; a few at a time hold nobody up.
      await yieldToOthers();
      const chunk = level.slice(start, start + READS_AT_ONCE);
      const lists = chunk.map((path) => readDirectory(root, path, { device, repair: options.repair }));
      for (const [index, list] of lists.entries()) {
        entries += list.length;
        for (const entry of list) sort(entry, { parent: chunk[index], found, next, opaque: options.opaque });
      }
      if (entries > MAX_ENTRIES) throw unreadable(root, undefined, `it holds more than ${MAX_ENTRIES} entries`);
    }
    level = next;
  }
  return found;
}

const READS_AT_ONCE = 16;
const MAX_ENTRIES = 1_000_000;

interface MutableWalk extends TreeWalk {
  readonly files: RepoPath[];
  readonly special: RepoPath[];
  readonly gitEntries: RepoPath[];
  readonly directories: RepoPath[];
}

type Entry = ReturnType<typeof listEntries>[number];

function listEntries(path: Buffer) {
  return readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
}

function sort(
  entry: Entry,
  context: { parent: RepoPath | undefined; found: MutableWalk; next: RepoPath[]; opaque: ReadonlySet<RepoPath> },
): void {
  const { parent, found } = context;
  const name = pathFromBytes(entry.name);
  const path = childPath(parent, name);
  if (parent === undefined && name === '.git') return;
  if (isGitName(name)) {
    found.gitEntries.push(path);
  } else if (entry.isDirectory()) {
    found.directories.push(path);
    if (!context.opaque.has(path)) context.next.push(path);
  } else if (entry.isFile() || entry.isSymbolicLink()) {
    found.files.push(path);
  } else {
    found.special.push(path);
  }
}

function readDirectory(
  root: string,
  path: RepoPath | undefined,
  options: { device: number; repair: boolean },
): Entry[] {
  const absolute = path === undefined ? Buffer.from(root) : absoluteBytes(root, path);
  try {
    const status = lstatSync(absolute);
    if (!status.isDirectory()) {
      if (path === undefined) throw unreadable(root, path, 'it is no directory any more');
      return []; // replaced since its parent was read
    }
    if (status.dev !== options.device) throw unreadable(root, path, 'another file system is mounted there');
    if (options.repair && (status.mode & 0o700) !== 0o700) chmodSync(absolute, (status.mode & 0o777) | 0o700);
    return listEntries(absolute);
  } catch (error) {
    if (error instanceof OrchestratorError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []; // removed since its parent was read
    throw unreadable(root, path, messageOf(error));
  }
}

function unreadable(root: string, path: RepoPath | undefined, reason: string): OrchestratorError {
  const place = path === undefined ? 'its top directory' : `"${escapeForDisplay(path)}"`;
  return new OrchestratorError(
    'failed',
    `cannot read ${place} of the workspace ${root}: ${reason}. Nothing was judged; make it readable or remove it.`,
  );
}
