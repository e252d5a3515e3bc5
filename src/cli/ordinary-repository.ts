import { existsSync, lstatSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

interface OrdinaryRepository {
  readonly root: string;
  readonly commonDirectory: string;
}

/**
 * The repository around a directory where the files alone leave no doubt: an ordinary work tree above its own `.git`
 * directory, both the user's. Undefined in every other case; then git has to be asked, which takes a command like
 * `status` as long as the rest of its work.
 */
export function findOrdinaryRepository(directory: string, uid: number): OrdinaryRepository | undefined {
  try {
    let place = realpathSync(directory);
    const { dev } = lstatSync(place);
    for (;;) {
      const status = lstatSync(place);
      const git = join(place, '.git');
      const found = lstatSync(git, { throwIfNoEntry: false });
      if (found !== undefined) {
        const isOurs = [status, found].every((each) => isOwnDirectory(each, { uid, dev }));
        return isOurs && holdsRepository(git) && isPlain(git) ? { root: place, commonDirectory: git } : undefined;
      }
      // A bare repository, or the inside of a git directory.
      if (holdsRepository(place) || dirname(place) === place) return undefined;
      place = dirname(place);
    }
  } catch {
    return undefined;
  }
}

/** Git refuses the repositories of others and looks no further than one file system. */
function isOwnDirectory(status: Stats, wanted: { uid: number; dev: number }): boolean {
  return status.isDirectory() && status.uid === wanted.uid && status.dev === wanted.dev;
}

function holdsRepository(directory: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(directory, name)));
}

/** Nothing in its settings that could put the work tree elsewhere. */
function isPlain(git: string): boolean {
  if (existsSync(join(git, 'commondir'))) return false;
  const settings = readFileSync(join(git, 'config'), 'utf8').replace(/^\s*bare\s*=\s*false\s*$/gm, '');
  return !/bare|worktree|include/i.test(settings);
}
