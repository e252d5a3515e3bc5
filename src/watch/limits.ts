import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The kernel's limit of inotify watches of one user; undefined where there is no such limit (macOS). */
export async function readWatchLimit(file = '/proc/sys/fs/inotify/max_user_watches'): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const limit = Number.parseInt(text ?? '', 10);
  return Number.isNaN(limit) ? undefined : limit;
}

/** Directories that the watcher watches below `root`, itself included; counting ends at `most`. Links are not followed. */
export async function countDirectories(root: string, most: number): Promise<number> {
  const waiting = [root];
  let count = 0;
  for (let directory = waiting.pop(); directory !== undefined && count < most; directory = waiting.pop()) {
    count += 1;
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.isDirectory() && entry.name !== '.git') waiting.push(join(directory, entry.name));
    }
  }
  return count;
}
