import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectId, RunId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { openStoreGit } from '../../../src/git/store-git.ts';
import { openUserRepository } from '../../../src/git/user-repository.ts';
import { openWorkspacePool } from '../../../src/workspace/pool.ts';
import { AUTHOR, CLOCK } from '../git/scratch-repository.ts';
import { isNever, makePool, OWNER, type ScratchPool } from './scratch-pool.ts';

let made: ScratchPool;

beforeEach(async () => {
  made = await makePool(
    {
      'lib/a.py': 'a\n',
      'lib/sub/c.py': 'c\n',
      'run.sh': '#!/bin/sh\n',
      'crlf.txt': 'x\r\n',
      '.gitignore': 'build/\n',
      '.gitattributes': '* text=auto\n*.txt eol=crlf\n',
    },
    { slots: 2 },
  );
});
afterEach(() => made.scratch.remove());

const paths = (...names: string[]) => names as RepoPath[];

async function commitOn(
  parent: ObjectId,
  files: Record<string, string | undefined>,
): Promise<{ commit: ObjectId; tree: ObjectId }> {
  const { store } = made;
  const entries = new Map<RepoPath, { mode: string; blob: ObjectId } | undefined>();
  for (const [name, text] of Object.entries(files)) {
    const entry = text === undefined ? undefined : { mode: '100644', blob: await store.writeBlob(Buffer.from(text)) };
    entries.set(name as RepoPath, entry);
  }
  const tree = await store.withEntries(await store.treeOf(parent), entries);
  return { tree, commit: await store.commit({ tree, parents: [parent], message: 'x\n', author: AUTHOR, atMs: 0 }) };
}

describe('a workspace', () => {
  it('is a clean repository of its own without hooks and identity', async () => {
    const workspace = await made.acquire();
    const git = (...args: string[]) => made.scratch.gitIn(workspace.root, ...args);
    expect(git('status', '--porcelain', '--ignored')).toBe('');
    expect(git('rev-parse', 'HEAD').trim()).toBe(made.start.commit);
    expect(git('log', '--format=%s').trim()).toBe('base');
    expect(git('show', 'HEAD:lib/a.py')).toBe('a\n');
    expect(existsSync(join(workspace.root, '.git/hooks'))).toBe(false);
    expect(readFileSync(join(workspace.root, '.git/config'), 'utf8')).not.toMatch(/user|hooksPath/);
    expect(readFileSync(join(workspace.root, 'crlf.txt'), 'utf8')).toBe('x\n'); // the bytes of the blob
    git('update-ref', 'refs/heads/main', made.start.commit);
    writeFileSync(join(workspace.root, 'lib/a.py'), 'changed\n');
    git('commit', '-qam', 'its own');
    expect(made.scratch.git('rev-parse', 'main').trim()).toBe(made.start.commit);
    expect(made.scratch.git('status', '--porcelain')).toBe('');
  });

  it('shows a start tree that differs from HEAD as changes', async () => {
    const other = await commitOn(made.start.commit, { 'lib/a.py': 'other\n', 'lib/new.py': 'n\n' });
    const workspace = await made.acquire({ tree: other.tree });
    expect(made.scratch.gitIn(workspace.root, 'status', '--porcelain')).toBe(' M lib/a.py\n?? lib/new.py\n');
    expect((await workspace.snapshot()).tree).toBe(other.tree);
  });

  it('has an empty scratch directory, and none is handed out when all are taken', async () => {
    const first = await made.acquire();
    writeFileSync(join(first.scratch, 'x'), 'x');
    const second = await made.acquire();
    expect(second.root).not.toBe(first.root);
    expect(made.pool.free).toBe(0);
    expect(await made.pool.acquire(OWNER, made.start)).toBeUndefined();
    await first.release();
    await first.release();
    expect(made.pool.free).toBe(1);
    await expect(first.snapshot()).rejects.toThrow(/was given back/);
    const third = await made.acquire();
    expect(third.root).toBe(first.root);
    expect(readdirSync(third.scratch)).toEqual([]);
    expect(await made.pool.diskBytes()).toBeGreaterThan(0);
  });

  it('frees the slot when it cannot be filled', async () => {
    await expect(made.acquire({ tree: 'b'.repeat(40) as ObjectId })).rejects.toThrow(/ls-tree/);
    expect(made.pool.free).toBe(2);
    expect((await (await made.acquire()).snapshot()).tree).toBe(made.start.tree);
  });
});

describe('a slot that is used again', () => {
  it('keeps ignored products, loses the rest, and shows nothing of the last agent', async () => {
    const first = await made.acquire();
    mkdirSync(join(first.root, 'build/deep/empty'), { recursive: true });
    writeFileSync(join(first.root, 'build/out.o'), 'o');
    mkdirSync(join(first.root, 'lib/__pycache__'));
    writeFileSync(join(first.root, 'lib/__pycache__/a.pyc'), 'x');
    writeFileSync(join(first.root, 'lib/a.py'), 'changed\n');
    writeFileSync(join(first.root, 'lib/left.py'), 'x');
    mkdirSync(join(first.root, 'empty/dir'), { recursive: true });
    rmSync(join(first.root, 'run.sh'));
    writeFileSync(join(first.root, '.git/left'), 'x');
    const inode = statSync(join(first.root, 'build/out.o')).ino;
    await first.snapshot();
    await first.release();
    const second = await made.acquire();
    expect(second.root).toBe(first.root);
    expect(statSync(join(second.root, 'build/out.o')).ino).toBe(inode);
    expect(existsSync(join(second.root, 'build/deep/empty'))).toBe(true);
    expect(existsSync(join(second.root, 'lib/__pycache__/a.pyc'))).toBe(true);
    expect(existsSync(join(second.root, 'empty'))).toBe(false);
    expect(existsSync(join(second.root, '.git/left'))).toBe(false);
    expect(made.scratch.gitIn(second.root, 'status', '--porcelain')).toBe('');
    expect((await second.snapshot()).tree).toBe(made.start.tree);
  });

  it('is not blocked by nested repositories, read-only directories, FIFOs, links or a planted .git', async () => {
    const first = await made.acquire();
    const { root } = first;
    const outside = join(made.scratch.base, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'c.py'), 'untouched');
    mkdirSync(join(root, 'lib/nested'));
    made.scratch.gitIn(join(root, 'lib/nested'), 'init', '-q');
    mkdirSync(join(root, 'lib/locked/deep'), { recursive: true });
    writeFileSync(join(root, 'lib/locked/deep/x'), 'x');
    chmodSync(join(root, 'lib/locked/deep'), 0o000);
    chmodSync(join(root, 'lib/locked'), 0o500);
    execFileSync('mkfifo', [join(root, 'lib/fifo')]);
    rmSync(join(root, 'lib/sub'), { recursive: true });
    symlinkSync(outside, join(root, 'lib/sub'));
    rmSync(join(root, '.git'), { recursive: true });
    symlinkSync(outside, join(root, '.git'));
    await first.release();
    const second = await made.acquire();
    expect((await second.snapshot()).tree).toBe(made.start.tree);
    expect(readdirSync(join(second.root, 'lib')).sort()).toEqual(['a.py', 'sub']);
    expect(readFileSync(join(outside, 'c.py'), 'utf8')).toBe('untouched');
    expect(readdirSync(outside)).toEqual(['c.py']);
  });

  it('that was turned into a link does not lead to its target', async () => {
    const first = await made.acquire();
    await first.release();
    rmSync(first.root, { recursive: true });
    symlinkSync(made.scratch.root, first.root);
    made.scratch.write('lib/own.py', 'of the user');
    const second = await made.acquire();
    expect((await second.snapshot()).tree).toBe(made.start.tree);
    expect(made.scratch.git('status', '--porcelain')).toBe('?? lib/own.py\n');
    rmSync(second.root, { recursive: true });
    symlinkSync(made.scratch.root, second.root);
    await expect(second.snapshot()).rejects.toThrow(/no directory any more/);
    await expect(second.resetTo(made.start.tree)).rejects.toThrow(/no directory any more/);
    await expect(second.restore(made.start.tree, paths('lib/own.py'))).rejects.toThrow(/gone or is no directory/);
    expect(made.scratch.git('status', '--porcelain')).toBe('?? lib/own.py\n');
  });

  it('is made anew where the old tree resists', async () => {
    const first = await made.acquire();
    await first.release();
    writeFileSync(join(first.root, '../index'), 'not an index');
    const second = await made.acquire();
    expect((await second.snapshot()).tree).toBe(made.start.tree);
    expect(existsSync(`${second.root}.old`)).toBe(false);
  });

  it('moves to another commit, and back', async () => {
    const next = await commitOn(made.start.commit, { 'lib/sub/c.py': undefined, 'lib/sub': 'file', 'new/x': 'x' });
    const first = await made.acquire();
    await first.release();
    const second = await made.acquire(next);
    expect((await second.snapshot()).tree).toBe(next.tree);
    await second.release();
    const third = await made.acquire();
    expect((await third.snapshot()).tree).toBe(made.start.tree);
    expect(existsSync(join(third.root, 'new'))).toBe(false);
  });
});

describe('base ignore rules', () => {
  it('hold although an earlier step changed them in its commit', async () => {
    await made.scratch.remove();
    let base: ObjectId | undefined;
    made = await makePool({ 'lib/a.py': 'a\n', '.gitignore': 'build/\n' }, { ignoreBase: () => base });
    base = made.start.tree;
    const step = await commitOn(made.start.commit, { '.gitignore': '*.py\n' });
    const workspace = await made.acquire(step);
    writeFileSync(join(workspace.root, 'lib/new.py'), 'n');
    mkdirSync(join(workspace.root, 'build'));
    writeFileSync(join(workspace.root, 'build/x'), 'x');
    const { tree } = await workspace.snapshot();
    const changes = await workspace.changes(step.tree, tree);
    expect(changes.map((change) => change.path)).toEqual(['lib/new.py']);
  });

  it('never hide a tracked file', async () => {
    const tracked = await commitOn(made.start.commit, { 'build/kept.txt': 'k\n', 'lib/x.pyc': 'p' });
    const workspace = await made.acquire(tracked);
    writeFileSync(join(workspace.root, 'build/kept.txt'), 'changed\n');
    writeFileSync(join(workspace.root, 'build/other.txt'), 'ignored\n');
    rmSync(join(workspace.root, 'lib/x.pyc'));
    const changes = await workspace.changes(tracked.tree, (await workspace.snapshot()).tree);
    expect(changes.map(({ path, operation }) => `${operation} ${path}`)).toEqual([
      'modify build/kept.txt',
      'delete lib/x.pyc',
    ]);
    await workspace.resetTo(made.start.tree);
    expect(existsSync(join(workspace.root, 'build/kept.txt'))).toBe(false);
    expect(existsSync(join(workspace.root, 'build/other.txt'))).toBe(true);
  });
});

describe('restore', () => {
  it('puts files, modes, links and deletions back and touches nothing else', async () => {
    const workspace = await made.acquire();
    const { root } = workspace;
    writeFileSync(join(root, 'lib/a.py'), 'changed\n');
    writeFileSync(join(root, 'lib/kept.py'), 'work of the agent\n');
    writeFileSync(join(root, 'deep.py'), 'x');
    mkdirSync(join(root, 'out/side'), { recursive: true });
    writeFileSync(join(root, 'out/side/x.py'), 'x');
    chmodSync(join(root, 'run.sh'), 0o755);
    rmSync(join(root, 'lib/sub'), { recursive: true });
    const before = (await workspace.snapshot()).tree;
    await workspace.restore(made.start.tree, paths('lib/a.py', 'run.sh', 'out/side/x.py', 'lib/sub/c.py'));
    const changes = await workspace.changes(made.start.tree, (await workspace.snapshot()).tree);
    expect(changes.map((change) => change.path)).toEqual(['deep.py', 'lib/kept.py']);
    expect(existsSync(join(root, 'out'))).toBe(false);
    await workspace.restore(before, paths('lib/a.py'));
    expect(readFileSync(join(root, 'lib/a.py'), 'utf8')).toBe('changed\n');
  });

  it('does not write or delete through planted links and hard links', async () => {
    const workspace = await made.acquire();
    const { root } = workspace;
    const outside = join(made.scratch.base, 'outside');
    mkdirSync(outside);
    for (const name of ['c.py', 'gone.py', 'a.py']) writeFileSync(join(outside, name), 'untouched');
    rmSync(join(root, 'lib/sub'), { recursive: true });
    symlinkSync(outside, join(root, 'lib/sub'));
    rmSync(join(root, 'lib/a.py'));
    symlinkSync(join(outside, 'a.py'), join(root, 'lib/a.py'));
    rmSync(join(root, 'run.sh'));
    linkSync(join(outside, 'gone.py'), join(root, 'run.sh'));
    await workspace.restore(made.start.tree, paths('lib/sub/gone.py', 'lib/sub/c.py', 'lib/a.py', 'run.sh'));
    for (const name of ['c.py', 'gone.py', 'a.py']) {
      expect(readFileSync(join(outside, name), 'utf8')).toBe('untouched');
    }
    expect((await workspace.snapshot()).tree).toBe(made.start.tree); // and it did restore
  });

  it('refuses to move something aside through a link', async () => {
    const workspace = await made.acquire();
    const outside = join(made.scratch.base, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, '.env'), 'secret');
    symlinkSync(outside, join(workspace.root, 'via'));
    await expect(workspace.moveAside('via/.env' as RepoPath, 'x')).rejects.toThrow(/became a link/);
    await expect(workspace.moveAside('.git' as RepoPath, 'x')).rejects.toThrow(/own repository/);
    expect(existsSync(join(outside, '.env'))).toBe(true);
  });

  it('of the whole tree brings a snapshot back and keeps ignored files', async () => {
    const workspace = await made.acquire();
    const { root } = workspace;
    writeFileSync(join(root, 'lib/a.py'), 'one\n');
    writeFileSync(join(root, 'lib/extra.py'), 'e\n');
    const one = await workspace.snapshot();
    mkdirSync(join(root, 'build'));
    writeFileSync(join(root, 'build/x'), 'x');
    writeFileSync(join(root, 'lib/a.py'), 'two\n');
    rmSync(join(root, 'lib/extra.py'));
    writeFileSync(join(root, 'junk'), 'j');
    await workspace.resetTo(one.tree);
    expect((await workspace.snapshot()).tree).toBe(one.tree);
    expect(existsSync(join(root, 'junk'))).toBe(false);
    expect(existsSync(join(root, 'build/x'))).toBe(true);
  });
});

describe('patches', () => {
  it('hold exactly the named paths and do not overwrite each other', async () => {
    const workspace = await made.acquire();
    writeFileSync(join(workspace.root, 'lib/a.py'), 'changed\n');
    writeFileSync(join(workspace.root, 'lib/b.py'), 'b\n');
    const { tree } = await workspace.snapshot();
    const options = { from: made.start.tree, to: tree, paths: paths('lib/a.py'), name: '../T1/coder' };
    const [one, two] = [await workspace.savePatch(options), await workspace.savePatch(options)];
    const staging = join(made.scratch.base, 'state/runs/r-1/staging');
    expect(one.startsWith(`${staging}/`) && two.startsWith(`${staging}/`)).toBe(true);
    expect(one).not.toBe(two);
    expect(readFileSync(one, 'utf8')).toContain('+changed');
    expect(readFileSync(one, 'utf8')).not.toContain('lib/b.py');
    made.scratch.git('apply', '--check', one);
  });
});

describe('a shallow clone', () => {
  it('gives workspaces that work', async () => {
    const { scratch } = made;
    for (const text of ['1', '2']) {
      scratch.write('lib/a.py', text);
      scratch.git('commit', '-qam', text);
    }
    const clone = join(scratch.base, 'clone');
    scratch.gitIn(scratch.base, 'clone', '-q', '--depth', '1', `file://${scratch.root}`, clone);
    const user = await openUserRepository(clone, { environment: scratch.environment, clock: CLOCK });
    const store = await openStoreGit({
      directory: join(scratch.base, 's2/store.git'),
      userObjects: user.objectsDirectory,
    });
    const pool = await openWorkspacePool({
      directory: join(scratch.base, 's2/workspaces'),
      slots: 1,
      store,
      stagingFor: (run: RunId) => join(scratch.base, 's2', run),
      clock: CLOCK,
      isNever,
      ignoreBaseTree: async () => undefined,
      shallowFile: join(user.commonDirectory, 'shallow'),
    });
    const { commit } = await user.head();
    const workspace = await pool.acquire(OWNER, { commit, tree: await store.treeOf(commit) });
    if (workspace === undefined) throw new Error('no slot');
    expect(scratch.gitIn(workspace.root, 'log', '--format=%s').trim()).toBe('2');
    expect(scratch.gitIn(workspace.root, 'fsck')).toBe('');
    writeFileSync(join(workspace.root, 'lib/a.py'), 'x');
    expect(await workspace.changes(await store.treeOf(commit), (await workspace.snapshot()).tree)).toHaveLength(1);
  });
});
