import { type Check, found, passed } from '../../domain/check.ts';

/** inotify watches against what the daemon will watch: the checkout and, at most, every slot. */
export async function watchChecks(root: string, slots: number): Promise<readonly Check[]> {
  const { readWatchLimit, countDirectories } = await import('../../watch/limits.ts');
  const limit = await readWatchLimit();
  if (limit === undefined) return [];
  return [judgeWatches({ directories: await countDirectories(root, limit + 1), slots, limit })];
}

export function judgeWatches(seen: { directories: number; slots: number; limit: number }): Check {
  const { directories, slots, limit } = seen;
  const needed = directories * (slots + 1);
  if (needed <= limit * USABLE) return passed('inotify', `${directories} directories here, ${limit} watches allowed`);
  const known = directories > limit ? `more than ${limit}` : String(directories);
  return found('inotify', {
    level: 'warning',
    symptom: `${limit} inotify watches are allowed`,
    cause: `the checkout has ${known} directories, and each of the ${slots} slots may need as many`,
    remedy: `sysctl fs.inotify.max_user_watches=${Math.max(524_288, needed * 2)}; without it the daemon polls, which is slower and misses nothing`,
  });
}

/** Editors and other programs of the user take from the same limit. */
const USABLE = 0.8;
