import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ObjectId, ZERO_OBJECT_ID } from '../../../src/domain/ids.ts';
import { pathFromBytes, type RepoPath } from '../../../src/domain/path.ts';
import type { StoreGit, UserRepository } from '../../../src/git/git.ts';
import { AUTHOR, makeRepository, openDoors, type ScratchRepository } from './scratch-repository.ts';

let scratch: ScratchRepository;
let store: StoreGit;
let user: UserRepository;
let base: ObjectId;
let baseTree: ObjectId;
const path = (text: string) => text as RepoPath;

beforeAll(async () => {
  scratch = makeRepository({
    'lib/a.py': 'one\ntwo\nthree\n',
    'lib/b.py': 'b\n',
    'prot/f1.ts': 'l1\nl2\nl3\nl4\nl5\n',
    'gen/out.py': 'generated\n',
    '.gitattributes': 'gen/** linguist-generated\nlib/b.py linguist-generated=false\n',
  });
  ({ store, user } = await openDoors(scratch));
  base = (await user.head()).commit;
  baseTree = await store.treeOf(base);
});
afterAll(() => scratch.remove());

async function commitWith(parent: ObjectId, files: Record<string, string | undefined>): Promise<ObjectId> {
  const entries = new Map<RepoPath, { mode: string; blob: ObjectId } | undefined>();
  for (const [name, text] of Object.entries(files)) {
    entries.set(
      path(name),
      text === undefined ? undefined : { mode: '100644', blob: await store.writeBlob(Buffer.from(text)) },
    );
  }
  const tree = await store.withEntries(await store.treeOf(parent), entries);
  return store.commit({ tree, parents: [parent], message: 'step\n', author: AUTHOR, atMs: 1_800_000_000_000 });
}

describe('store', () => {
  it('borrows the objects of the user and adds none to them', async () => {
    const before = scratch.git('count-objects', '-v');
    const commit = await commitWith(base, { 'lib/a.py': 'changed\n' });
    expect(await store.parentsOf(commit)).toEqual([base]);
    expect(await store.isAncestor(base, commit)).toBe(true);
    expect(await store.isAncestor(commit, base)).toBe(false);
    expect(scratch.git('count-objects', '-v')).toBe(before);
    expect(await user.resolve(commit)).toBeUndefined();
    expect(await store.resolve(commit)).toBe(commit);
    expect(await store.resolve('refs/heads/nothing')).toBeUndefined();
    expect(readdirSync(join(store.directory, 'tmp'))).toEqual([]);
    expect(await store.diskBytes()).toBeGreaterThan(0);
  });

  it('commits as the user, at the given time', async () => {
    const commit = await commitWith(base, { 'lib/new.py': 'x' });
    const raw = execFileSync('git', ['--git-dir', store.directory, 'cat-file', 'commit', commit], { encoding: 'utf8' });
    expect(raw).toContain('author Ada <ada@example.org> 1800000000 +0000');
    expect(raw).toContain('committer Ada <ada@example.org> 1800000000 +0000');
  });

  it('reports a rename as a delete and a create', async () => {
    const commit = await commitWith(base, { 'prot/f1.ts': undefined, 'lib/f1.ts': 'l1\nl2\nl3\nl4\nl5\n' });
    const changes = await store.diff(baseTree, await store.treeOf(commit));
    expect(changes.map(({ path, operation }) => [path, operation])).toEqual([
      ['lib/f1.ts', 'create'],
      ['prot/f1.ts', 'delete'],
    ]);
  });

  it('keeps every byte of a path, and a tree can be changed at such a path', async () => {
    const names = [
      Buffer.from('lib/\xff\xfe.py', 'latin1'),
      Buffer.from('lib/new\nline'),
      Buffer.from('lib/"q"\t\u202e'),
    ];
    const blob = await store.writeBlob(Buffer.from('x'));
    const entries = new Map(names.map((name) => [pathFromBytes(name), { mode: '100644', blob }]));
    const tree = await store.withEntries(baseTree, entries);
    const changed = (await store.diff(baseTree, tree)).map((change) => change.path);
    expect(new Set(changed)).toEqual(new Set(entries.keys()));
    for (const name of entries.keys()) expect(await store.entry(tree, name)).toEqual({ mode: '100644', blob });
    const removed = new Map([...entries.keys()].map((name) => [name, undefined] as const));
    expect(await store.withEntries(tree, removed)).toBe(baseTree);
    const [first] = entries.keys();
    const patch = await store.patch(baseTree, tree, first === undefined ? [] : [first]);
    expect(patch.toString('latin1').match(/^diff --git/gm)).toHaveLength(1);
  });

  it('answers undefined for absent paths and for directories', async () => {
    expect(await store.entry(baseTree, path('lib'))).toBeUndefined();
    expect(await store.entry(baseTree, path('nope'))).toBeUndefined();
    expect((await store.entry(baseTree, path('lib/a.py')))?.mode).toBe('100644');
    expect(await store.entry(baseTree, path(':(glob)lib/*'))).toBeUndefined();
  });

  it('a file takes the place of a directory', async () => {
    const commit = await commitWith(base, { lib: 'now a file\n' });
    const paths = (await store.listTree(await store.treeOf(commit))).map((entry) => entry.path);
    expect(paths).toContain('lib');
    expect(paths).not.toContain('lib/a.py');
  });

  it('makes a patch that git takes back, and counts lines', async () => {
    const commit = await commitWith(base, { 'lib/a.py': 'one\n2\nthree\nfour\n', 'lib/bin': 'a\0b' });
    const tree = await store.treeOf(commit);
    const patch = await store.patch(baseTree, tree);
    const target = makeRepository({ 'lib/a.py': 'one\ntwo\nthree\n' });
    try {
      writeFileSync(join(target.base, 'p.patch'), patch);
      target.git('apply', join(target.base, 'p.patch'));
      expect(target.git('status', '--porcelain', '-uall')).toBe(' M lib/a.py\n?? lib/bin\n');
    } finally {
      target.remove();
    }
    expect(await store.numstat(baseTree, tree)).toEqual([
      { path: 'lib/a.py', added: 2, deleted: 1 },
      { path: 'lib/bin', added: 0, deleted: 0 },
    ]);
    const part = (await store.patch(baseTree, tree, [path('lib/bin')])).toString('latin1');
    expect(part).toContain('lib/bin');
    expect(part).not.toContain('lib/a.py');
  });

  it('finds generated paths from the tree, not from the checkout', async () => {
    scratch.write('.gitattributes', '');
    expect(await store.generatedPaths(baseTree)).toEqual(new Set(['gen/out.py']));
    scratch.git('checkout', '-q', '--', '.gitattributes');
    expect(
      await store.generatedPaths(await store.treeOf(await commitWith(base, { '.gitattributes': undefined }))),
    ).toEqual(new Set());
  });

  it('moves refs by compare-and-swap', async () => {
    const one = await commitWith(base, { a: '1' });
    const two = await commitWith(base, { a: '2' });
    const ref = 'refs/orchestrator/r-1/T1/coder/1';
    expect(await store.updateRef(ref, one, ZERO_OBJECT_ID)).toBe(true);
    expect(await store.updateRef(ref, two, ZERO_OBJECT_ID)).toBe(false);
    expect(await store.updateRef(ref, two, base)).toBe(false);
    expect(await store.refs('refs/orchestrator/r-1/')).toEqual(new Map([[ref, one]]));
    expect(await store.updateRef(ref, two, one)).toBe(true);
    expect(await store.updateRef(ref, undefined, one)).toBe(false);
    expect(await store.updateRef(ref, undefined, two)).toBe(true);
    expect(await store.refs('refs/orchestrator')).toEqual(new Map());
    await expect(store.updateRef('refs/orchestrator/bad..name', one, ZERO_OBJECT_ID)).rejects.toThrow(/bad\.\.name/);
  });
});

describe('merge', () => {
  it('merges apart changes and names the paths of a conflict', async () => {
    const ours = await commitWith(base, { 'lib/a.py': 'ONE\ntwo\nthree\n' });
    const theirs = await commitWith(base, { 'lib/b.py': 'B\n' });
    const rival = await commitWith(base, { 'lib/a.py': 'uno\ntwo\nthree\n' });
    const merged = await store.merge(ours, theirs);
    expect(merged.clean).toBe(true);
    expect(await store.merge(ours, rival)).toEqual({ clean: false, paths: ['lib/a.py'] });
  });

  it('takes no merge driver from a tree: union stays a conflict', async () => {
    const start = await commitWith(base, { '.gitattributes': '* merge=union\n' });
    const ours = await commitWith(start, { 'lib/a.py': 'ONE\ntwo\nthree\n' });
    const theirs = await commitWith(start, { 'lib/a.py': 'uno\ntwo\nthree\n' });
    expect(await store.merge(ours, theirs)).toMatchObject({ clean: false });
    // Positive control: the user's own git obeys the attribute.
    scratch.write('.gitattributes', '* merge=union\n');
    scratch.write('lib/a.py', 'ONE\ntwo\nthree\n');
    scratch.git('commit', '-qam', 'ours');
    scratch.git('checkout', '-q', '-b', 'union', base);
    scratch.write('.gitattributes', '* merge=union\n');
    scratch.write('lib/a.py', 'uno\ntwo\nthree\n');
    scratch.git('commit', '-qam', 'theirs');
    scratch.git('merge', '-q', '-m', 'merged', 'main');
    scratch.git('checkout', '-q', '-f', '-B', 'main', base);
  });

  it('shows a change that a rename on the other side carried to a protected path', async () => {
    const five = 'l1\nl2\nl3\nl4\nl5\n';
    const start = await commitWith(base, { 'lib/f1.ts': five, 'prot/f1.ts': undefined });
    const target = await commitWith(start, { 'lib/f1.ts': undefined, 'prot/f1.ts': five });
    const role = await commitWith(start, { 'lib/f1.ts': five.replace('l3', 'L3') });
    const merged = await store.merge(target, role);
    const changes = merged.clean ? await store.diff(await store.treeOf(target), merged.tree) : [];
    expect(changes.map(({ path, operation }) => `${operation} ${path}`)).toEqual(['modify prot/f1.ts']);
  });

  it('does not carry files into a renamed directory', async () => {
    const ours = await commitWith(base, {
      'lib/a.py': undefined,
      'lib/b.py': undefined,
      'moved/a.py': 'one\ntwo\nthree\n',
      'moved/b.py': 'b\n',
    });
    const theirs = await commitWith(base, { 'lib/new.py': 'new\n' });
    const merged = await store.merge(ours, theirs);
    const paths = merged.clean ? (await store.listTree(merged.tree)).map((entry) => entry.path) : [];
    expect(paths).toContain('lib/new.py');
    expect(paths).not.toContain('moved/new.py');
  });
});

describe('check', () => {
  it('passes sound objects and names crafted ones', async () => {
    const sound = await commitWith(base, { 'lib/a.py': 'sound\n' });
    expect(await store.check(sound, [base])).toEqual([]);
    const blob = await store.writeBlob(Buffer.from('[core]\n'));
    const entry = (name: string) => Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]);
    for (const content of [Buffer.concat([entry('a'), entry('a')]), entry('.git')]) {
      const tree = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
        input: content,
        env: { PATH: scratch.environment['PATH'], GIT_DIR: store.directory },
        encoding: 'utf8',
      }).trim() as ObjectId;
      const crafted = await store.commit({ tree, parents: [base], message: 'x\n', author: AUTHOR, atMs: 0 });
      expect((await store.check(crafted, [base])).join('\n')).toMatch(/duplicateEntries|hasDotgit/);
      expect(existsSync(join(store.directory, 'tmp'))).toBe(true);
      expect(readdirSync(join(store.directory, 'tmp'))).toEqual([]);
    }
  });

  it('ignores replace objects in the repository of the user', async () => {
    const real = await store.treeOf(base);
    const fake = scratch.git('commit-tree', '-m', 'fake', scratch.git('mktree').trim()).trim();
    scratch.git('replace', base, fake);
    expect(scratch.git('rev-parse', `${base}^{tree}`).trim()).not.toBe(real);
    expect(await store.treeOf(base)).toBe(real);
    scratch.git('replace', '-d', base);
  });
});

describe('a failure', () => {
  it('says which command failed, where and why', async () => {
    const missing = 'a'.repeat(40) as ObjectId;
    await expect(store.readBlob(missing)).rejects.toThrow(/git cat-file failed in the store .*store\.git/);
  });
});
