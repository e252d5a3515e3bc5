import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../domain/ids.ts';
import { alternateEntry } from './alternates.ts';
import { ignoreOutput, openDoor } from './command.ts';
import { ALWAYS_IGNORED, RAW_ATTRIBUTES, storeEnvironment } from './store-environment.ts';

interface StoreLocation {
  /** Absolute path of the bare repository. */
  readonly directory: string;
  /** `objects` directory of the user's repository. */
  readonly userObjects: string;
  readonly searchPath: string | undefined;
}

/** Makes the bare repository, or brings an existing one to what this version expects. Safe to repeat after a crash. */
export async function createStore(location: StoreLocation): Promise<void> {
  const { directory, userObjects } = location;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { GIT_DIR: _, ...environment } = storeEnvironment(location);
  const door = openDoor({ cwd: directory, environment, subject: `the store ${directory}` });
  await door({ args: ['init', '--quiet', '--bare', '--template=', directory], parse: ignoreOutput });
  await mkdir(join(directory, 'home'), { recursive: true, mode: 0o700 });
  await mkdir(join(directory, 'tmp'), { recursive: true, mode: 0o700 });
  await mkdir(join(directory, 'info'), { recursive: true });
  await mkdir(join(directory, 'objects/info'), { recursive: true });
  await writeFile(join(directory, 'objects/info/alternates'), `${alternateEntry(userObjects)}\n`);
  await writeFile(join(directory, 'info/attributes'), RAW_ATTRIBUTES);
  await writeFile(join(directory, 'info/exclude'), `${ALWAYS_IGNORED.join('\n')}\n`);
  await copyShallow(location);
}

/**
 * A shallow user repository ends its history at the commits listed in `shallow`; without the same file here every walk
 * would run into missing parents. Called before walks, since the user may deepen the clone meanwhile.
 */
export async function copyShallow(location: StoreLocation): Promise<void> {
  const target = join(location.directory, 'shallow');
  const source = join(dirname(location.userObjects), 'shallow');
  const [wanted, present] = await Promise.all([readIfThere(source), readIfThere(target)]);
  if (wanted === undefined) {
    if (present !== undefined) await rm(target, { force: true });
  } else if (present === undefined || !wanted.equals(present)) {
    await writeFile(target, wanted);
  }
}

/** What a crash left in `tmp`. Only old entries go: another process of ours may be at work in there. */
export async function sweepTemporary(directory: string, clock: Clock): Promise<void> {
  const parent = join(directory, 'tmp');
  for (const name of await readdir(parent)) {
    const found = await stat(join(parent, name)).catch(() => undefined);
    if (found !== undefined && clock.now() - found.mtimeMs > LEFTOVER_AGE_MS) {
      await rm(join(parent, name), { recursive: true, force: true });
    }
  }
}

/**
 * Lock files of git processes that died with the machine or with the daemon: they would block every later write. Only
 * for the holder of the daemon's lock, when none of its own git processes runs.
 */
export async function removeStaleLocks(directory: string): Promise<void> {
  const top = (await readdir(directory)).filter((name) => name.endsWith('.lock'));
  const below = (await readdir(join(directory, 'refs'), { recursive: true })).filter((name) => name.endsWith('.lock'));
  for (const name of [...top, ...below.map((file) => join('refs', file))]) {
    await rm(join(directory, name), { force: true });
  }
}

const LEFTOVER_AGE_MS = 3_600_000;

async function readIfThere(path: string): Promise<Buffer | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? readFile(path) : undefined;
}
