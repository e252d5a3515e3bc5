import type { ObjectId } from '../domain/ids.ts';
import type { GitCommand } from './command.ts';
import { objectIdOf } from './revisions.ts';

export function readBlobBytes(blob: ObjectId): GitCommand<Buffer> {
  return { args: ['cat-file', 'blob', blob], parse: ({ stdout }) => stdout };
}

export function writeBlobBytes(bytes: Buffer): GitCommand<ObjectId> {
  return {
    args: ['hash-object', '-w', '--stdin', '--no-filters'],
    input: bytes,
    parse: ({ stdout }) => objectIdOf(stdout),
  };
}

/** A commit whose committer is its author: the daemon acts for the user. */
export function writeCommit(options: {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly atMs: number;
}): GitCommand<ObjectId> {
  const date = `@${Math.floor(options.atMs / 1000)} +0000`;
  return {
    args: ['commit-tree', ...options.parents.flatMap((parent) => ['-p', parent]), '-F', '-', options.tree],
    input: Buffer.from(options.message, 'utf8'),
    environment: {
      GIT_AUTHOR_NAME: options.author.name,
      GIT_AUTHOR_EMAIL: options.author.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: options.author.name,
      GIT_COMMITTER_EMAIL: options.author.email,
      GIT_COMMITTER_DATE: date,
    },
    parse: ({ stdout }) => objectIdOf(stdout),
  };
}
