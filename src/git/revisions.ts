import type { ObjectId } from '../domain/ids.ts';
import type { GitCommand, GitOutput } from './command.ts';

/** The object a revision names, undefined when there is none. */
export function resolveObject(revision: string, kind: 'object' | 'commit'): GitCommand<ObjectId | undefined> {
  return {
    args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{${kind}}`],
    accepts: [1, 128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? objectIdOf(stdout) : undefined),
  };
}

export function treeOfCommit(commit: ObjectId): GitCommand<ObjectId> {
  return {
    args: ['rev-parse', '--verify', '--end-of-options', `${commit}^{tree}`],
    parse: ({ stdout }) => objectIdOf(stdout),
  };
}

export function parentsOfCommit(commit: ObjectId): GitCommand<readonly ObjectId[]> {
  return {
    args: ['rev-list', '--parents', '--max-count=1', commit],
    parse: ({ stdout }) => stdout.toString('latin1').trim().split(' ').slice(1) as ObjectId[],
  };
}

export function hasAncestor(ancestor: ObjectId, descendant: ObjectId): GitCommand<boolean> {
  return {
    args: ['merge-base', '--is-ancestor', ancestor, descendant],
    accepts: [1],
    parse: ({ exitCode }) => exitCode === 0,
  };
}

export function listRefs(prefix: string): GitCommand<ReadonlyMap<string, ObjectId>> {
  return {
    args: ['for-each-ref', '--format=%(objectname) %(refname)', prefix],
    parse: ({ stdout }) =>
      new Map(
        textLines(stdout).map((line) => {
          const space = line.indexOf(' ');
          return [line.slice(space + 1), line.slice(0, space) as ObjectId];
        }),
      ),
  };
}

/**
 * Moves or deletes a ref, from `old` when given. Git gives the same exit code for a lost compare-and-swap, a held lock
 * and a name that collides with a directory: the caller re-reads the ref to tell them apart.
 */
export function setRef(change: {
  ref: string;
  next: ObjectId | undefined;
  old: ObjectId | undefined;
}): GitCommand<GitOutput> {
  const { ref, next, old } = change;
  const expected = old === undefined ? [] : [old];
  return {
    args:
      next === undefined
        ? ['update-ref', '--no-deref', '-d', ref, ...expected]
        : ['update-ref', '--no-deref', ref, next, ...expected],
    accepts: [1, 128],
    parse: (output) => output,
  };
}

export function objectIdOf(stdout: Buffer): ObjectId {
  return stdout.toString('latin1').trim() as ObjectId;
}

export function textLines(stdout: Buffer): string[] {
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}
