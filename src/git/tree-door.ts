import type { ObjectId } from '../domain/ids.ts';
import { pathFromBytes, type RepoPath, splitNul } from '../domain/path.ts';
import { type GitCommand, type GitDoor, ignoreOutput } from './command.ts';
import { storeDoor } from './store-git.ts';
import { nulTerminated, writeIndexAsTree } from './trees.ts';

/**
 * Files of a work tree through the daemon's own git directory, index and configuration. Whatever `.git` lies in that
 * tree is never read (security.md L1 to L6).
 */
export interface TreeDoor {
  /** Makes files and index equal to `tree`: changed, missing and no longer wanted tracked files. Others stay. */
  checkOut(tree: ObjectId): Promise<void>;
  /** Sets the index to `tree`, files untouched; what is known about equal files is kept. */
  resetIndex(tree: ObjectId): Promise<void>;
  indexed(): Promise<readonly { path: RepoPath; mode: string }[]>;
  /**
   * Takes over the content and mode of `present` and drops `absent`. A present path that vanished is dropped. The
   * answer names paths that git refuses to hold (a `.gitmodules` link, `.git` in disguise).
   */
  record(present: readonly RepoPath[], absent: readonly RepoPath[]): Promise<readonly string[]>;
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
  return {
    checkOut: (tree) => door({ args: ['read-tree', '--reset', '-u', tree], parse: ignoreOutput }),
    resetIndex: (tree) => door({ args: ['read-tree', '--reset', tree], parse: ignoreOutput }),
    indexed: () =>
      door({ args: ['ls-files', '--stage', '-z'], parse: ({ stdout }) => splitNul(stdout).map(parseStage) }),
    record: (present, absent) => record(door, present, absent),
    writeTree: () => door(writeIndexAsTree()),
    ignored: (paths) => door(askIgnored(paths)),
  };
}

async function record(door: GitDoor, present: readonly RepoPath[], absent: readonly RepoPath[]) {
  if (absent.length > 0) {
    const args = ['update-index', '--force-remove', '-z', '--stdin'];
    await door({ args, input: nulTerminated(absent), parse: ignoreOutput });
  }
  return door({
    args: ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'],
    input: nulTerminated(present),
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

/** `<mode> <object> <stage>` TAB `<path>`. */
function parseStage(field: Buffer): { path: RepoPath; mode: string } {
  return {
    path: pathFromBytes(field.subarray(field.indexOf(0x09) + 1)),
    mode: field.subarray(0, 6).toString('latin1'),
  };
}
