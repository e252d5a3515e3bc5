import type { ObjectId } from '../domain/ids.ts';
import { type GitCommand, ignoreOutput } from './command.ts';
import { textLines } from './revisions.ts';

/** A pack of all objects that `commit` reaches and `known` does not. */
export function packObjects(commit: ObjectId, known: Iterable<ObjectId>): GitCommand<Buffer> {
  const lines = [commit, ...Array.from(known, (id) => `^${id}`)];
  return {
    args: ['pack-objects', '--revs', '--stdout', '--quiet', '--window=0'],
    input: Buffer.from(`${lines.join('\n')}\n`),
    parse: ({ stdout }) => stdout,
  };
}

/** Object count in a pack's header (bytes 8 to 11, big endian). */
export function packedObjectCount(pack: Buffer): number {
  return pack.length < 12 ? 0 : pack.readUInt32BE(8);
}

/** Adds a pack to the object directory after a strict check of every object in it. */
export function indexPack(pack: Buffer): GitCommand<undefined> {
  return { args: ['index-pack', '--stdin', '--strict'], input: pack, parse: ignoreOutput };
}

/** The same check, with its complaints as the answer. */
export function inspectPack(pack: Buffer, quarantine: string): GitCommand<readonly string[]> {
  return {
    args: ['index-pack', '--stdin', '--strict'],
    input: pack,
    accepts: [1, 128],
    environment: { GIT_OBJECT_DIRECTORY: quarantine },
    parse: ({ exitCode, stderr }) => (exitCode === 0 ? [] : textLines(Buffer.from(stderr))),
  };
}

/** Whether everything that `commit` reaches, and no ref does, is there. */
export function isComplete(commit: ObjectId): GitCommand<boolean> {
  return {
    args: ['rev-list', '--objects', '--quiet', commit, '--not', '--all'],
    accepts: [1, 128],
    parse: ({ exitCode }) => exitCode === 0,
  };
}
