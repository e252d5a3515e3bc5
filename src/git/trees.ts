import type { ObjectId } from '../domain/ids.ts';
import { pathToBytes, type RepoPath, splitNulText } from '../domain/path.ts';
import { type GitCommand, ignoreOutput } from './command.ts';
import { objectIdOf } from './revisions.ts';

export interface TreeEntry {
  readonly path: RepoPath;
  readonly mode: string;
  readonly blob: ObjectId;
}

/** Every file, link and gitlink of a tree. */
export function listTreeEntries(tree: ObjectId): GitCommand<readonly TreeEntry[]> {
  return { args: ['ls-tree', '-r', '-z', '--full-tree', tree], parse: ({ stdout }) => parseEntries(stdout) };
}

/** The entry of one path. Only for paths that survive as an argument, see `isArgument`. */
export function findTreeEntry(tree: ObjectId, path: RepoPath): GitCommand<TreeEntry | undefined> {
  return {
    args: ['ls-tree', '-z', '--full-tree', tree, '--', path],
    parse: ({ stdout }) => parseEntries(stdout).find((entry) => entry.path === path && entry.mode !== '040000'),
  };
}

/** Process arguments are UTF-8 text: a path with other bytes would arrive changed. */
export function isArgument(path: RepoPath): boolean {
  return pathToBytes(path).equals(Buffer.from(path, 'utf8'));
}

export function readTreeIntoIndex(tree: ObjectId): GitCommand<undefined> {
  return { args: ['read-tree', tree], parse: ignoreOutput };
}

/** Sets and removes index entries; a file takes the place of a directory and the reverse. */
export function setIndexEntries(
  entries: ReadonlyMap<RepoPath, { mode: string; blob: ObjectId } | undefined>,
): GitCommand<undefined> {
  const removals: Buffer[] = [];
  const additions: Buffer[] = [];
  for (const [path, entry] of entries) {
    const head = entry === undefined ? `0 ${'0'.repeat(40)}\t` : `${entry.mode} ${entry.blob}\t`;
    (entry === undefined ? removals : additions).push(Buffer.from(head), pathToBytes(path), Buffer.from([0]));
  }
  return {
    args: ['update-index', '-z', '--index-info'],
    input: Buffer.concat([...removals, ...additions]),
    parse: ignoreOutput,
  };
}

export function writeIndexAsTree(): GitCommand<ObjectId> {
  return { args: ['write-tree'], parse: ({ stdout }) => objectIdOf(stdout) };
}

/** NUL-terminated bytes for git's `-z --stdin`. */
export function nulTerminated(paths: Iterable<RepoPath>): Buffer {
  const listed = [...paths];
  const text = listed.map((path) => `${path}\0`).join('');
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  return Buffer.concat(listed.flatMap((path) => [pathToBytes(path), Buffer.from([0])]));
}

function parseEntries(stdout: Buffer): TreeEntry[] {
  return splitNulText(stdout).map((field) => {
    const tab = field.indexOf('\t');
    const [mode = '', , blob = ''] = field.slice(0, tab).split(' ');
    return { path: field.slice(tab + 1) as RepoPath, mode, blob: blob as ObjectId };
  });
}
