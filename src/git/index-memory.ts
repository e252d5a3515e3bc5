import { statSync } from 'node:fs';
import type { ObjectId } from '../domain/ids.ts';
import type { TreeEntry } from './trees.ts';

/**
 * What git said about an index, for as long as that file stays as it is. Git replaces an index by renaming a new file
 * over it and leaves it alone when nothing changed, so its identity tells whether asking again would say the same.
 */
export interface IndexMemory {
  entries(read: () => Promise<readonly TreeEntry[]>): Promise<readonly TreeEntry[]>;
  tree(write: () => Promise<ObjectId>): Promise<ObjectId>;
}

export function openIndexMemory(file: string): IndexMemory {
  let entries: Remembered<readonly TreeEntry[]>;
  let tree: Remembered<ObjectId>;
  return {
    async entries(read) {
      const identity = identityOf(file);
      if (entries === undefined || entries.identity !== identity) entries = { identity, value: await read() };
      return entries.value;
    },
    async tree(write) {
      const before = identityOf(file);
      if (tree !== undefined && tree.identity === before) return tree.value;
      const value = await write();
      // Writing a tree notes its parts in the index; the entries stay what they were.
      const identity = identityOf(file);
      tree = { identity, value };
      if (entries?.identity === before) entries = { identity, value: entries.value };
      return value;
    },
  };
}

/** True once the clock of the file system has passed the second in which the index was written. */
export function isFromEarlierSecond(index: string, reference: string): boolean {
  const written = statSync(index, { throwIfNoEntry: false });
  return written !== undefined && Math.floor(written.mtimeMs / 1000) < Math.floor(statSync(reference).mtimeMs / 1000);
}

type Remembered<Value> = { readonly identity: string; readonly value: Value } | undefined;

function identityOf(file: string): string {
  const status = statSync(file, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? 'absent' : `${status.ino} ${status.size} ${status.mtimeNs} ${status.ctimeNs}`;
}
