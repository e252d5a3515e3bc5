import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ObjectId, ZERO_OBJECT_ID } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { findRepository } from '../../../src/git/find-repository.ts';
import type { StoreGit, UserRepository } from '../../../src/git/git.ts';
import { openStoreGit } from '../../../src/git/store-git.ts';
import { openUserRepository } from '../../../src/git/user-repository.ts';
import { AUTHOR, CLOCK, makeRepository, openDoors, type ScratchRepository } from './scratch-repository.ts';

let scratch: ScratchRepository;
let store: StoreGit;
let user: UserRepository;
let base: ObjectId;

beforeEach(async () => {
  scratch = makeRepository({ 'lib/a.py': 'a\n', 'lib/b.py': 'b\n', '.gitignore': 'ignored/\n' });
  ({ store, user } = await openDoors(scratch));
  base = (await user.head()).commit;
});
afterEach(() => scratch.remove());

async function commitInStore(text: string): Promise<ObjectId> {
  const blob = await store.writeBlob(Buffer.from(text));
  const entries = new Map([['lib/a.py' as RepoPath, { mode: '100644', blob }]]);
  const tree = await store.withEntries(await store.treeOf(base), entries);
  return store.commit({ tree, parents: [base], message: 'x\n', author: AUTHOR, atMs: 0 });
}

/** Everything of the user's git directory that must not change, with bytes and times of the index. */
function untouchables(): Record<string, string> {
  const git = join(scratch.root, '.git');
  const files = [
    'index',
    'HEAD',
    'config',
    'refs/stash',
    'logs/HEAD',
    'logs/refs/stash',
    'info/exclude',
    'packed-refs',
  ];
  const state: Record<string, string> = {};
  for (const file of files) {
    const path = join(git, file);
    if (existsSync(path)) state[file] = `${readFileSync(path).toString('base64')} ${statSync(path).mtimeMs}`;
  }
  for (const hook of readdirSync(join(git, 'hooks'))) state[hook] = readFileSync(join(git, 'hooks', hook), 'base64');
  state['names'] = readdirSync(git).sort().join(' ');
  return state;
}

function plantHooks(marker: string): void {
  mkdirSync(join(scratch.root, '.git/hooks'), { recursive: true });
  for (const hook of ['reference-transaction', 'post-index-change', 'post-checkout', 'pre-commit', 'post-commit']) {
    const file = join(scratch.root, '.git/hooks', hook);
    writeFileSync(file, `#!/bin/sh\necho ${hook} >> '${marker}'\n`);
    chmodSync(file, 0o755);
  }
}

describe('the user repository', () => {
  it('is found from below, canonically, and not where there is none', async () => {
    const found = await findRepository(join(scratch.root, 'lib'), { environment: scratch.environment });
    expect(found?.root).toBe(scratch.root);
    expect(found?.commonDirectory).toBe(join(scratch.root, '.git'));
    expect(await findRepository(scratch.base, { environment: scratch.environment })).toBeUndefined();
    await expect(openUserRepository(scratch.base, { environment: scratch.environment, clock: CLOCK })).rejects.toThrow(
      /not inside a git repository/,
    );
  });

  it('is not led elsewhere by GIT_DIR in the environment', async () => {
    const environment = { ...scratch.environment, GIT_DIR: '/nonexistent', GIT_INDEX_FILE: '/nonexistent' };
    const found = await findRepository(scratch.root, { environment });
    expect(found?.root).toBe(scratch.root);
  });

  it('tells head, branches in use, shallow and partial', async () => {
    scratch.git('worktree', 'add', '-q', '-b', 'other', join(scratch.base, 'linked'));
    expect(await user.head()).toEqual({ commit: base, branch: 'refs/heads/main' });
    expect(await user.checkedOutBranches()).toEqual(new Set(['refs/heads/main', 'refs/heads/other']));
    scratch.git('checkout', '-q', '--detach');
    expect((await user.head()).branch).toBeUndefined();
    expect(await user.checkedOutBranches()).toEqual(new Set(['refs/heads/other']));
    expect(await user.isShallow()).toBe(false);
    expect(await user.isPartialClone()).toBe(false);
    scratch.git('config', 'remote.origin.promisor', 'true');
    expect(await user.isPartialClone()).toBe(true);
  });

  it('counts the branch of a stopped rebase as in use', async () => {
    scratch.git('checkout', '-q', '-b', 'topic');
    scratch.write('lib/a.py', 'topic\n');
    scratch.git('commit', '-qam', 'topic');
    scratch.git('checkout', '-q', 'main');
    scratch.write('lib/a.py', 'main\n');
    scratch.git('commit', '-qam', 'main');
    scratch.git('checkout', '-q', 'topic');
    expect(() => scratch.git('rebase', 'main')).toThrow();
    expect((await user.head()).branch).toBeUndefined();
    expect(await user.checkedOutBranches()).toEqual(new Set(['refs/heads/topic']));
  });

  it('lists dirty paths with odd names and leaves out ignored ones', async () => {
    expect(await user.dirtyPaths()).toEqual([]);
    scratch.write('lib/a.py', 'dirty\n');
    scratch.write('new\nline', 'x');
    scratch.write('ignored/x', 'x');
    expect(new Set(await user.dirtyPaths())).toEqual(new Set(['lib/a.py', 'new\nline']));
  });

  it('takes a configured author and never a guessed one', async () => {
    expect(await user.author()).toEqual({ name: 'Ada', email: 'ada@example.org' });
    writeFileSync(join(scratch.environment['HOME'] ?? '', '.gitconfig'), '[user]\n\tname = Ada\n');
    expect(await user.author()).toBeUndefined();
    const byEnvironment = await openUserRepository(scratch.root, {
      environment: { ...scratch.environment, GIT_AUTHOR_EMAIL: 'env@example.org' },
      clock: CLOCK,
    });
    expect(await byEnvironment.author()).toEqual({ name: 'Ada', email: 'env@example.org' });
  });

  it('needs a first commit', async () => {
    const empty = join(scratch.base, 'empty');
    mkdirSync(empty);
    scratch.gitIn(empty, 'init', '-q');
    const opened = await openUserRepository(empty, { environment: scratch.environment, clock: CLOCK });
    await expect(opened.head()).rejects.toThrow(/has no commit yet/);
  });

  it('adds lines to info/exclude once', async () => {
    const file = join(scratch.root, '.git/info/exclude');
    writeFileSync(file, 'mine');
    await user.exclude(['policies/', 'agent-notes/']);
    await user.exclude(['policies/', 'agent-notes/']);
    expect(readFileSync(file, 'utf8')).toBe('mine\npolicies/\nagent-notes/\n');
  });
});

describe('writing', () => {
  it('changes a branch and objects, nothing else, and runs no hook', async () => {
    scratch.write('lib/b.py', 'stashed\n');
    scratch.git('stash', '-q');
    scratch.write('lib/b.py', 'staged\n');
    scratch.git('add', 'lib/b.py');
    scratch.write('lib/b.py', 'dirty\n');
    const marker = join(scratch.base, 'hook-ran');
    plantHooks(marker);
    const before = untouchables();
    const commit = await commitInStore('new\n');
    await user.importCommit(store, commit);
    expect(await user.moveRef('refs/heads/orchestrator/r-1', commit, ZERO_OBJECT_ID)).toBe(true);
    const captured = await user.captureWorkInProgress(store);
    await user.dirtyPaths();
    await user.deleteRef('refs/heads/orchestrator/nothing');
    expect(untouchables()).toEqual(before);
    expect(existsSync(marker)).toBe(false);
    expect(scratch.git('show', 'orchestrator/r-1:lib/a.py')).toBe('new\n');
    expect(await user.resolve('refs/heads/orchestrator/r-1')).toBe(commit);
    expect(await store.parentsOf(captured)).toEqual([base]);
    scratch.git('update-ref', 'refs/heads/control', base); // positive control: plain git runs the hook
    expect(readFileSync(marker, 'utf8')).toContain('reference-transaction');
  });

  it('moves a ref only from the expected commit', async () => {
    const commit = await commitInStore('one\n');
    await user.importCommit(store, commit);
    const ref = 'refs/heads/target';
    scratch.git('update-ref', ref, base);
    expect(await user.moveRef(ref, commit, ZERO_OBJECT_ID)).toBe(false);
    expect(await user.moveRef(ref, commit, commit)).toBe(false);
    expect(await user.resolve(ref)).toBe(base);
    expect(await user.moveRef(ref, commit, base)).toBe(true);
    await user.deleteRef(ref);
    expect(await user.resolve(ref)).toBeUndefined();
  });

  it('says so when another branch name is in the way', async () => {
    scratch.git('branch', 'orchestrator');
    await expect(user.moveRef('refs/heads/orchestrator/r-1', base, ZERO_OBJECT_ID)).rejects.toThrow(
      /cannot move refs\/heads\/orchestrator\/r-1.*rename that branch/,
    );
  });

  it('imports a commit that survives pruning, although blobs of it were loose rubbish of the user', async () => {
    scratch.write('lib/a.py', 'once staged\n');
    scratch.git('add', '-A');
    scratch.git('reset', '-q', '--hard');
    const commit = await commitInStore('once staged\n');
    await user.importCommit(store, commit);
    await user.moveRef('refs/heads/kept', commit, ZERO_OBJECT_ID);
    scratch.git('gc', '-q', '--prune=now');
    expect(scratch.git('show', 'kept:lib/a.py')).toBe('once staged\n');
    expect(scratch.git('fsck', '--strict')).toBe('');
    await user.importCommit(store, commit); // again: nothing to do
  });

  it('captures tracked and untracked work with the ignore rules of the user', async () => {
    writeFileSync(join(scratch.root, '.git/info/exclude'), 'mine/\n');
    scratch.write('lib/a.py', 'wip\n');
    scratch.write('fresh\n.py', 'fresh\n');
    scratch.write('mine/x', 'x');
    scratch.write('ignored/x', 'x');
    rmSync(join(scratch.root, 'lib/b.py'));
    mkdirSync(join(scratch.root, 'nested'));
    scratch.gitIn(join(scratch.root, 'nested'), 'init', '-q');
    const before = scratch.git('count-objects');
    const commit = await user.captureWorkInProgress(store);
    const changes = await store.diff(await store.treeOf(base), await store.treeOf(commit));
    expect(changes.map(({ path, operation }) => `${operation} ${path}`)).toEqual([
      'create fresh\n.py',
      'modify lib/a.py',
      'delete lib/b.py',
    ]);
    expect(scratch.git('count-objects')).toBe(before);
    expect(await user.resolve(commit)).toBeUndefined();
  });

  it('asks for an identity before it captures', async () => {
    writeFileSync(join(scratch.environment['HOME'] ?? '', '.gitconfig'), '');
    await expect(user.captureWorkInProgress(store)).rejects.toThrow(/git config --global user\.name.*user\.email/);
  });
});

describe('a shallow clone', () => {
  it('can be walked in the store and pushed back into', async () => {
    for (const text of ['1', '2', '3']) {
      scratch.write('lib/a.py', text);
      scratch.git('commit', '-qam', text);
    }
    const clone = join(scratch.base, 'clone');
    scratch.gitIn(scratch.base, 'clone', '-q', '--depth', '2', `file://${scratch.root}`, clone);
    const shallow = await openUserRepository(clone, { environment: scratch.environment, clock: CLOCK });
    const borrowed = await openStoreGit({
      directory: join(scratch.base, 'state/shallow.git'),
      userObjects: shallow.objectsDirectory,
    });
    expect(await shallow.isShallow()).toBe(true);
    const { commit: head } = await shallow.head();
    const [parent] = await borrowed.parentsOf(head);
    expect(parent === undefined ? undefined : await borrowed.parentsOf(parent)).toEqual([]);
    const make = async (name: string) => {
      const blob = await borrowed.writeBlob(Buffer.from(name));
      const entries = new Map([[name as RepoPath, { mode: '100644', blob }]]);
      const tree = await borrowed.withEntries(await borrowed.treeOf(head), entries);
      return borrowed.commit({ tree, parents: [head], message: 'x\n', author: AUTHOR, atMs: 0 });
    };
    const [ours, theirs] = [await make('x'), await make('y')];
    expect((await borrowed.merge(ours, theirs)).clean).toBe(true);
    expect(await borrowed.check(ours, [head])).toEqual([]);
    await shallow.importCommit(borrowed, ours);
    expect(await shallow.moveRef('refs/heads/result', ours, ZERO_OBJECT_ID)).toBe(true);
    scratch.gitIn(clone, 'fetch', '-q', '--unshallow');
    expect((await borrowed.parentsOf(parent ?? head)).length).toBe(1);
  });
});
