import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import type { ObjectId, RunId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import type { StoreGit, UserRepository } from '../../../src/git/git.ts';
import { openStoreGit } from '../../../src/git/store-git.ts';
import { openUserRepository } from '../../../src/git/user-repository.ts';

export const RUN = 'r-20261130-101500-k3f9' as RunId;
export const AUTHOR = { name: 'Ada Person', email: 'ada@example.org' };
export const AT = 1_790_000_000_000;

/** What to put at a path: text, a program, a link, or nothing. */
export type Content = string | { readonly mode: string; readonly text: string } | undefined;

export interface Fixture {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: UserRepository;
  readonly store: StoreGit;
  /** Runs git as the user does; the output without its last line end. */
  git(...args: string[]): Promise<string>;
  write(path: string, text: string): Promise<void>;
  read(path: string): Promise<string>;
  /** Commits everything in the user's tree. */
  save(message: string): Promise<ObjectId>;
  head(): Promise<ObjectId>;
  /** A commit in the daemon's store, as a step makes it. */
  step(parent: ObjectId, contents: Readonly<Record<string, Content>>): Promise<ObjectId>;
  open(directory: string): Promise<UserRepository>;
}

/** A real user repository with one commit on `main`, and a store beside it; both are removed after the test. */
export async function makeRepository(files: Readonly<Record<string, string>>): Promise<Fixture> {
  const directory = await mkdtemp(join(tmpdir(), 'orch-gate-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const root = join(directory, 'checkout');
  const home = join(directory, 'home');
  await mkdir(root, { recursive: true });
  await mkdir(home);
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const clock = { now: () => AT };
  const git = async (...args: string[]) => {
    const { stdout } = await execa('git', args, { cwd: root, env: environment, extendEnv: false });
    return stdout;
  };
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const head = async () => (await git('rev-parse', 'HEAD')) as ObjectId;
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', AUTHOR.name);
  await git('config', 'user.email', AUTHOR.email);
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const save = async (message: string) => {
    await git('add', '--all');
    await git('commit', '--quiet', '--allow-empty', '--message', message);
    return head();
  };
  await save('base');
  const open = (at: string) => openUserRepository(at, { environment, clock });
  const user = await open(root);
  const store = await openStoreGit({
    directory: join(directory, 'store.git'),
    userObjects: user.objectsDirectory,
    searchPath: environment.PATH,
  });
  return {
    ...{ root, environment, user, store, git, write, save, head, open },
    read: (path) => readFile(join(root, path), 'utf8'),
    step: (parent, contents) => makeStep(store, parent, contents),
  };
}

async function makeStep(
  store: StoreGit,
  parent: ObjectId,
  contents: Readonly<Record<string, Content>>,
): Promise<ObjectId> {
  const entries = new Map<RepoPath, { mode: string; blob: ObjectId } | undefined>();
  for (const [path, content] of Object.entries(contents)) {
    const { mode, text } = typeof content === 'object' ? content : { mode: '100644', text: content };
    entries.set(
      path as RepoPath,
      text === undefined ? undefined : { mode, blob: await store.writeBlob(Buffer.from(text)) },
    );
  }
  const tree = await store.withEntries(await store.treeOf(parent), entries);
  return store.commit({ tree, parents: [parent], message: 'step\n', author: AUTHOR, atMs: AT });
}
