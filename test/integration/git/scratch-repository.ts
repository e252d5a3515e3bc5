import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { StoreGit, UserRepository } from '../../../src/git/git.ts';
import { openStoreGit } from '../../../src/git/store-git.ts';
import { openUserRepository } from '../../../src/git/user-repository.ts';

/** A real repository with its own home, below a temporary directory that `remove` deletes. */
export interface ScratchRepository {
  readonly base: string;
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  git(...args: string[]): string;
  gitIn(directory: string, ...args: string[]): string;
  write(path: string, content: string | Buffer, mode?: number): void;
  remove(): void;
}

export const CLOCK = { now: () => 1_800_000_000_000 };
export const AUTHOR = { name: 'Ada', email: 'ada@example.org' };

export function makeRepository(files: Readonly<Record<string, string>>): ScratchRepository {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'orch-b-')));
  const root = join(base, 'checkout');
  const home = join(base, 'home');
  mkdirSync(home);
  mkdirSync(root);
  writeFileSync(
    join(home, '.gitconfig'),
    '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n',
  );
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C',
  };
  const gitIn = (directory: string, ...args: string[]) =>
    execFileSync('git', args, {
      cwd: directory,
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const write = (path: string, content: string | Buffer, mode = 0o644) => {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content, { mode });
  };
  gitIn(root, 'init', '-q');
  for (const [path, content] of Object.entries(files)) write(path, content);
  gitIn(root, 'add', '-A');
  gitIn(root, 'commit', '-q', '-m', 'base');
  return {
    base,
    root,
    environment,
    git: (...args) => gitIn(root, ...args),
    gitIn,
    write,
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

export async function openDoors(scratch: ScratchRepository): Promise<{ user: UserRepository; store: StoreGit }> {
  const user = await openUserRepository(scratch.root, { environment: scratch.environment, clock: CLOCK });
  const store = await openStoreGit({
    directory: join(scratch.base, 'state/store.git'),
    userObjects: user.objectsDirectory,
    searchPath: scratch.environment['PATH'] ?? '',
    clock: CLOCK,
  });
  return { user, store };
}
