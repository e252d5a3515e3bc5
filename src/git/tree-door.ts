import { join } from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { pathFromBytes, type RepoPath, splitNul, splitNulText } from '../domain/path.ts';
import { alternateEntry } from './alternates.ts';
import { type GitCommand, type GitDoor, ignoreOutput } from './command.ts';
import { isFromEarlierSecond, openIndexMemory } from './index-memory.ts';
import { storeDoor } from './store-git.ts';
import { nulTerminated, setIndexEntries, type TreeEntry, writeIndexAsTree } from './trees.ts';

/**
 * Files of a work tree through the daemon's own git directory, index and configuration. Whatever `.git` lies in that
 * tree is never read (security.md L1 to L6).
 */
export interface TreeDoor {
  /** Makes files and index equal to `tree`: changed, missing and no longer wanted tracked files. Others stay. */
  checkOut(tree: ObjectId): Promise<void>;
  /** Sets the index to `tree`, files untouched; what is known about equal files is kept. */
  resetIndex(tree: ObjectId): Promise<void>;
  indexed(): Promise<readonly TreeEntry[]>;
  /**
   * Takes over the content and mode of `present` and drops `absent`; new objects go to the directory `quarantine`. A
   * present path that vanished is dropped. The answer names paths that git refuses to hold (a `.gitmodules` link, `.git`
   * in disguise).
   */
  record(options: {
    readonly present: readonly RepoPath[];
    readonly absent: readonly RepoPath[];
    readonly quarantine: string;
  }): Promise<readonly string[]>;
  /** Sets and removes single index entries. */
  setEntries(entries: ReadonlyMap<RepoPath, { mode: string; blob: ObjectId } | undefined>): Promise<void>;
  writeTree(): Promise<ObjectId>;
  /** Which of the paths the ignore files in this work tree, and the always ignored list, exclude. */
  ignored(paths: readonly RepoPath[]): Promise<readonly RepoPath[]>;
}

export function openTreeDoor(options: {
  readonly storeDirectory: string;
  readonly workTree: string;
  /** Index file outside the work tree. */
  readonly index: string;
  readonly searchPath?: string | undefined;
}): TreeDoor {
  const environment = { GIT_WORK_TREE: options.workTree, GIT_INDEX_FILE: options.index };
  const inner = storeDoor(options.storeDirectory, options.searchPath, options.workTree);
  const door: GitDoor = (command) => inner({ ...command, environment: { ...command.environment, ...environment } });
  const memory = openIndexMemory(options.index);
  let isFresh = true;
  return {
    checkOut: (tree) => {
      isFresh = true;
      return door({ args: ['read-tree', '--reset', '-u', tree], parse: ignoreOutput });
    },
    resetIndex: (tree) => door({ args: ['read-tree', '--reset', tree], parse: ignoreOutput }),
    indexed: () => memory.entries(() => door(listIndex())),
    record: (changes) => {
      // Files written in the same second as the index are hashed anew each time, until it is written once more.
      const rewrite = isFresh && isFromEarlierSecond(options.index, changes.quarantine);
      if (rewrite) isFresh = false;
      return record(door, { ...changes, rewrite }, join(options.storeDirectory, 'objects'));
    },
    setEntries: (entries) => door(setIndexEntries(entries)),
    writeTree: () => memory.tree(() => door(writeIndexAsTree())),
    ignored: (paths) => door(askIgnored(paths)),
  };
}

async function record(
  door: GitDoor,
  changes: { present: readonly RepoPath[]; absent: readonly RepoPath[]; quarantine: string; rewrite: boolean },
  storeObjects: string,
) {
  if (changes.absent.length > 0) {
    const args = ['update-index', '--force-remove', '-z', '--stdin'];
    await door({ args, input: nulTerminated(changes.absent), parse: ignoreOutput });
  }
  return door({
    args: [
      'update-index',
      ...(changes.rewrite ? ['--force-write-index'] : []),
      ...['--add', '--remove', '--replace', '-z', '--stdin'],
    ],
    input: nulTerminated(changes.present),
    environment: {
      GIT_OBJECT_DIRECTORY: changes.quarantine,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: alternateEntry(storeObjects),
    },
    parse: ({ stderr }) => Array.from(stderr.matchAll(/^Ignoring path (.*)$/gm), (match) => match[1] ?? ''),
  });
}

/**
 * check-ignore refuses literal pathspecs. With `./` in front no name is taken for pathspec magic; git repeats each path
 * as it was given.
 */
function askIgnored(paths: readonly RepoPath[]): GitCommand<readonly RepoPath[]> {
  return {
    args: ['check-ignore', '--no-index', '-z', '--stdin'],
    environment: { GIT_LITERAL_PATHSPECS: '0' },
    input: nulTerminated(paths.map((path) => `./${path}` as RepoPath)),
    accepts: [1],
    parse: ({ stdout }) => splitNul(stdout).map((field) => pathFromBytes(field.subarray(2))),
  };
}

function listIndex(): GitCommand<readonly TreeEntry[]> {
  return { args: ['ls-files', '--stage', '-z'], parse: ({ stdout }) => splitNulText(stdout).map(parseStage) };
}

/** `<mode> <object> <stage>` TAB `<path>`. */
function parseStage(field: string): TreeEntry {
  const tab = field.indexOf('\t');
  const [mode = '', blob = ''] = field.slice(0, tab).split(' ');
  return { path: field.slice(tab + 1) as RepoPath, mode, blob: blob as ObjectId };
}
