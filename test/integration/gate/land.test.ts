import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ObjectId } from '../../../src/domain/ids.ts';
import { type LandRequest, landRun } from '../../../src/gate/land.ts';
import { AT, AUTHOR, type Content, type Fixture, makeRepository, RUN } from './repository.ts';

const FILES = { 'src/a.py': 'a\n', 'src/b.py': 'b\n', 'src/gone.py': 'gone\n', '.gitignore': '*.log\n' };
const BODY = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
const CHANGES: Record<string, Content> = {
  'src/a.py': 'a changed\n',
  'src/new.py': 'new\n',
  'src/gone.py': undefined,
  'src/run': { mode: '100755', text: '#!/bin/sh\n' },
};

async function setUp(changes: Record<string, Content> = CHANGES) {
  const fixture = await makeRepository(FILES);
  const base = await fixture.head();
  const result = await fixture.step(base, changes);
  return { fixture, base, result };
}

function land(fixture: Fixture, sides: { base: ObjectId; result: ObjectId }, options: Partial<LandRequest> = {}) {
  return landRun({
    ...sides,
    user: fixture.user,
    git: fixture.store,
    run: RUN,
    title: 'add a thing',
    squash: false,
    author: AUTHOR,
    atMs: AT,
    environment: fixture.environment,
    verify: async () => ({ ok: true, text: '' }),
    ...options,
  });
}

/** Everything that a refused landing must leave byte for byte as it was. */
async function stateOf(fixture: Fixture, paths: readonly string[] = Object.keys(FILES)) {
  const gitFile = async (name: string) =>
    (await readFile(join(fixture.root, '.git', name)).catch(() => '')).toString('hex');
  return {
    files: await Promise.all(paths.map(async (path) => [path, await fixture.read(path).catch(() => 'absent')])),
    refs: await fixture.git('for-each-ref'),
    head: await gitFile('HEAD'),
    index: await gitFile('index'),
    config: await gitFile('config'),
    stash: await gitFile('logs/refs/stash'),
    reflog: await gitFile('logs/HEAD'),
  };
}

async function expectRefused(fixture: Fixture, landing: () => Promise<unknown>, words: RegExp, details: unknown) {
  const before = await stateOf(fixture);
  await expect(landing()).rejects.toMatchObject({ code: 'refused', message: expect.stringMatching(words), details });
  expect(await stateOf(fixture)).toEqual(before);
}

async function expectTree(fixture: Fixture) {
  expect(await fixture.read('src/a.py')).toBe('a changed\n');
  expect(await fixture.read('src/new.py')).toBe('new\n');
  await expect(fixture.read('src/gone.py')).rejects.toThrow('ENOENT');
  expect((await stat(join(fixture.root, 'src/run'))).mode & 0o111).toBe(0o111);
}

describe('the checked-out branch', () => {
  test('goes forward; unrelated uncommitted work, stash, config and ignored files stay', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.write('src/b.py', 'stashed\n');
    await fixture.git('stash');
    await fixture.write('src/b.py', 'dirty\n');
    await fixture.write('staged.py', 'staged\n');
    await fixture.git('add', 'staged.py');
    await fixture.write('untracked.py', 'untracked\n');
    await fixture.write('build.log', 'ignored\n');
    const before = await stateOf(fixture);
    const stash = await fixture.git('rev-parse', 'refs/stash');
    const landed = await land(fixture, { base, result });
    expect(landed).toEqual({ commit: result, how: 'fast-forward', branch: 'main' });
    expect(await fixture.git('rev-parse', 'main')).toBe(result);
    expect(await fixture.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    await expectTree(fixture);
    expect(await fixture.git('status', '--porcelain')).toBe(' M src/b.py\nA  staged.py\n?? untracked.py');
    expect(await fixture.git('rev-parse', 'refs/stash')).toBe(stash);
    expect(await fixture.read('build.log')).toBe('ignored\n');
    const after = await stateOf(fixture);
    expect([after.config, after.stash]).toEqual([before.config, before.stash]);
  });

  test('landing twice changes nothing the second time', async () => {
    const { fixture, base, result } = await setUp();
    await land(fixture, { base, result });
    const before = await stateOf(fixture);
    expect(await land(fixture, { base, result })).toMatchObject({ how: 'already-there', commit: result });
    expect(await stateOf(fixture)).toEqual(before);
  });

  test('a detached HEAD goes forward and stays detached', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.git('checkout', '--quiet', '--detach');
    expect(await land(fixture, { base, result })).toEqual({ commit: result, how: 'fast-forward', branch: undefined });
    expect(await fixture.git('rev-parse', 'HEAD', 'main')).toBe(`${result}\n${base}`);
    await expect(fixture.git('symbolic-ref', 'HEAD')).rejects.toThrow();
    await expectTree(fixture);
  });

  test('a branch that moved gets a merge that was verified as it is brought in', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.write('src/b.py', 'b moved\n');
    const moved = await fixture.save('moved');
    const verified: ObjectId[] = [];
    const landed = await land(
      fixture,
      { base, result },
      {
        verify: async (commit) => {
          verified.push(commit);
          return { ok: true, text: '' };
        },
      },
    );
    expect(landed).toMatchObject({ how: 'merge', branch: 'main' });
    expect(verified).toEqual([landed.commit]);
    expect(await fixture.git('log', '-1', '--format=%H %P%n%an%n%(trailers:only)')).toBe(
      `${landed.commit} ${moved} ${result}\n${AUTHOR.name}\nOrchestrator-Run: ${RUN}\n`,
    );
    await expectTree(fixture);
    expect(await fixture.read('src/b.py')).toBe('b moved\n');
    expect(await fixture.git('status', '--porcelain')).toBe('');
  });

  test('a merge that fails verify is refused, a fast-forward is not verified again', async () => {
    const { fixture, base, result } = await setUp();
    const verify = async () => ({ ok: false, text: '3 tests failed' });
    await fixture.write('src/b.py', 'b moved\n');
    await fixture.save('moved');
    await expectRefused(fixture, () => land(fixture, { base, result }, { verify }), /does not pass verify/, [
      '3 tests failed',
    ]);
    await fixture.git('reset', '--quiet', '--hard', base);
    expect(await land(fixture, { base, result }, { verify })).toMatchObject({ how: 'fast-forward' });
  });

  test('a conflict is refused with its paths', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.write('src/a.py', 'a otherwise\n');
    await fixture.save('moved');
    await expectRefused(fixture, () => land(fixture, { base, result }), /conflict/, ['src/a.py']);
  });

  test('a rename on the branch that would carry the change to another path is refused', async () => {
    const fixture = await makeRepository({ ...FILES, 'src/long.py': BODY });
    const base = await fixture.head();
    const result = await fixture.step(base, { 'src/long.py': BODY.replace('line 3', 'changed') });
    await fixture.write('prot/keep', '');
    await fixture.git('mv', 'src/long.py', 'prot/long.py');
    const moved = await fixture.save('renamed');
    expect(await fixture.store.merge(moved, result)).toMatchObject({ clean: true });
    await expectRefused(fixture, () => land(fixture, { base, result }), /nobody approved/, [
      'prot/long.py: the run did not change this path',
    ]);
    await fixture.git('reset', '--quiet', '--hard', base);
    await fixture.git('mv', 'src/b.py', 'src/c.py');
    await fixture.save('renamed another file');
    expect(await land(fixture, { base, result })).toMatchObject({ how: 'merge' });
  });

  test('a new file that collides by case with one that the branch got meanwhile is refused', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.write('src/NEW.py', 'theirs\n');
    await fixture.save('moved');
    await expectRefused(fixture, () => land(fixture, { base, result }), /nobody approved/, [
      expect.stringMatching(/^src\/new\.py: /),
    ]);
  });

  test.each([
    ['a tracked file with work in it', 'src/a.py', false],
    ['the same, staged', 'src/a.py', true],
    ['a changed file that would be deleted', 'src/gone.py', false],
    ['an untracked file', 'src/new.py', false],
  ])('%s in the way is refused', async (_name, path, staged) => {
    const { fixture, base, result } = await setUp();
    await fixture.write(path, 'my work\n');
    if (staged) await fixture.git('add', path);
    await expectRefused(fixture, () => land(fixture, { base, result }), /uncommitted work/, [path]);
    expect(await fixture.read(path)).toBe('my work\n');
  });

  test('an ignored file in the way is refused too', async () => {
    const { fixture, base, result } = await setUp({ 'trace.log': 'from the run\n' });
    await fixture.write('trace.log', 'mine\n');
    await expectRefused(fixture, () => land(fixture, { base, result }), /uncommitted work/, ['trace.log']);
    expect(await fixture.read('trace.log')).toBe('mine\n');
  });

  test('an untracked file where a directory is needed, and one in a directory that becomes a file', async () => {
    const first = await setUp({ 'data/x.py': 'x\n' });
    await first.fixture.write('data', 'mine\n');
    await expectRefused(first.fixture, () => land(first.fixture, first), /uncommitted work/, ['data']);
    const second = await setUp({
      'src/a.py': undefined,
      'src/b.py': undefined,
      'src/gone.py': undefined,
      src: 'file\n',
    });
    await second.fixture.write('src/mine.py', 'mine\n');
    await expectRefused(second.fixture, () => land(second.fixture, second), /uncommitted work/, ['src/mine.py']);
    const third = await setUp({
      'src/a.py': undefined,
      'src/b.py': undefined,
      'src/gone.py': undefined,
      src: 'file\n',
    });
    expect(await land(third.fixture, third)).toMatchObject({ how: 'fast-forward' });
    expect(await third.fixture.read('src')).toBe('file\n');
  });

  test('touched but unchanged files are no obstacle; a merge under way is', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.write('src/a.py', 'a\n');
    expect(await land(fixture, { base, result })).toMatchObject({ how: 'fast-forward' });
    const other = await setUp();
    await other.fixture.git('checkout', '--quiet', '-b', 'side');
    await other.fixture.save('side');
    await other.fixture.git('checkout', '--quiet', 'main');
    await other.fixture.git('merge', '--quiet', '--no-ff', '--no-commit', 'side');
    await expectRefused(other.fixture, () => land(other.fixture, other), /git would not update/, expect.anything());
  });

  test('hooks of the user do not run, and run when the user merges (control)', async () => {
    const { fixture, base, result } = await setUp();
    const marker = join(fixture.root, '../hook-ran');
    for (const hook of ['post-merge', 'reference-transaction', 'post-checkout', 'post-index-change']) {
      await fixture.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch '${marker}'\n`);
      await chmod(join(fixture.root, '.git/hooks', hook), 0o755);
    }
    await land(fixture, { base, result });
    await expectTree(fixture);
    await expect(stat(marker)).rejects.toThrow('ENOENT');
    await fixture.git('commit', '--quiet', '--allow-empty', '--message', 'control');
    expect((await stat(marker)).isFile()).toBe(true);
  });
});

describe('--squash', () => {
  test('makes one commit of the user on the branch, with the run in a trailer', async () => {
    const { fixture, base, result } = await setUp();
    const second = await fixture.step(result, { 'src/b.py': 'b too\n' });
    const landed = await land(fixture, { base, result: second }, { squash: true, title: 'add\na thing' });
    expect(landed).toMatchObject({ how: 'squash', branch: 'main' });
    expect(await fixture.git('log', '--format=%H %P %an %cn %s%n%(trailers:only)', `${base}..HEAD`)).toBe(
      `${landed.commit} ${base} ${AUTHOR.name} ${AUTHOR.name} add a thing\nOrchestrator-Run: ${RUN}\n`,
    );
    expect(await fixture.git('rev-parse', 'HEAD^{tree}')).toBe(await fixture.store.treeOf(second));
    await expectTree(fixture);
    expect(await land(fixture, { base, result: second }, { squash: true })).toMatchObject({ how: 'already-there' });
    expect(await land(fixture, { base, result: second })).toMatchObject({ how: 'already-there' });
  });

  test('on a branch that moved it has one parent and is verified', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.write('src/b.py', 'b moved\n');
    const moved = await fixture.save('moved');
    const verify = async () => ({ ok: false, text: 'red' });
    await expectRefused(fixture, () => land(fixture, { base, result }, { squash: true, verify }), /verify/, ['red']);
    const landed = await land(fixture, { base, result }, { squash: true });
    expect(await fixture.git('rev-parse', 'HEAD^@')).toBe(moved);
    expect(await fixture.git('rev-parse', 'HEAD')).toBe(landed.commit);
    expect(await fixture.read('src/b.py')).toBe('b moved\n');
  });
});

describe('--branch', () => {
  test('creates a branch and leaves the checkout alone, dirty files and all', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.write('src/a.py', 'my work\n');
    const before = await stateOf(fixture);
    expect(await land(fixture, { base, result }, { branch: 'topic/x' })).toEqual({
      commit: result,
      how: 'fast-forward',
      branch: 'topic/x',
    });
    expect(await fixture.git('rev-parse', 'topic/x')).toBe(result);
    expect({ ...(await stateOf(fixture)), refs: '' }).toEqual({ ...before, refs: '' });
    const squashed = await land(fixture, { base, result }, { branch: 'squashed', squash: true });
    expect(await fixture.git('rev-parse', 'squashed', 'squashed^@')).toBe(`${squashed.commit}\n${base}`);
  });

  test('moves one that exists forward or by a verified merge', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.git('branch', 'behind');
    expect(await land(fixture, { base, result }, { branch: 'behind' })).toMatchObject({ how: 'fast-forward' });
    await fixture.git('checkout', '--quiet', '-b', 'aside');
    await fixture.write('src/b.py', 'aside\n');
    const aside = await fixture.save('aside');
    await fixture.git('checkout', '--quiet', 'main');
    const landed = await land(fixture, { base, result }, { branch: 'aside' });
    expect(landed.how).toBe('merge');
    expect(await fixture.git('rev-parse', 'aside^@')).toBe(`${aside}\n${result}`);
    expect(await fixture.git('rev-parse', 'HEAD')).toBe(base);
  });

  test('the checked-out branch by its name is the ordinary landing; one of another work tree is refused', async () => {
    const { fixture, base, result } = await setUp();
    await fixture.git('worktree', 'add', '--quiet', '-b', 'linked', '../linked');
    await expectRefused(fixture, () => land(fixture, { base, result }, { branch: 'linked' }), /another work tree/, []);
    expect(await land(fixture, { base, result }, { branch: 'main' })).toMatchObject({
      how: 'fast-forward',
      branch: 'main',
    });
    await expectTree(fixture);
    const linked = await fixture.open(join(fixture.root, '../linked'));
    expect(await land(fixture, { base, result }, { user: linked })).toMatchObject({ branch: 'linked', commit: result });
    expect(await readFile(join(linked.root, 'src/a.py'), 'utf8')).toBe('a changed\n');
  });

  test('a name that is no branch name is an error of use', async () => {
    const { fixture, base, result } = await setUp();
    for (const branch of ['-f', '@{-1}', 'a..b', '']) {
      await expect(land(fixture, { base, result }, { branch })).rejects.toMatchObject({ code: 'usage' });
    }
  });
});
