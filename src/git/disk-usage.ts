import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Bytes on disk below a directory, links not followed. What vanishes meanwhile counts nothing. The walk ends after
 * `maxEntries`, so that a huge tree costs a known time: the answer is then a lower bound.
 */
export async function diskUsage(directory: string, maxEntries = 500_000): Promise<number> {
  const pending = [directory];
  let bytes = 0;
  let entries = 0;
  for (let next = pending.pop(); next !== undefined && entries < maxEntries; next = pending.pop()) {
    const parent = next;
    const children = await readdir(parent, { withFileTypes: true }).catch(() => []);
    entries += children.length;
    const sizes = await Promise.all(children.map((child) => blocksOf(join(parent, child.name))));
    bytes += sizes.reduce((sum, size) => sum + size, 0);
    for (const child of children) if (child.isDirectory()) pending.push(join(parent, child.name));
  }
  return bytes;
}

async function blocksOf(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  return found === undefined ? 0 : found.blocks * 512;
}
