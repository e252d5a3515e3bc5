import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pathFromBytes, type RepoPath } from '../../../src/domain/path.ts';
import type { Workspace } from '../../../src/workspace/workspace.ts';
import { makePool, type ScratchPool } from './scratch-pool.ts';

let made: ScratchPool;
let workspace: Workspace;
let root: string;

beforeEach(async () => {
  made = await makePool({
    'lib/a.py': 'aaaa\n',
    'lib/b.py': 'b\n',
    'lib/sub/c.py': 'c\n',
    'prot/p.txt': 'p\n',
    '.gitignore': 'build/\n*.log\n',
    '.gitattributes': '* text=auto\n*.py filter=evil\n',
  });
  workspace = await made.acquire();
  root = workspace.root;
});
afterEach(() => made.scratch.remove());

const agentGit = (...args: string[]) => made.scratch.gitIn(root, ...args);

/** `<operation> <path>` of everything a snapshot shows against the start. */
async function seen(): Promise<string[]> {
  const { tree } = await workspace.snapshot();
  const changes = await workspace.changes(made.start.tree, tree);
  return changes.map(({ operation, path }) => `${operation} ${path}`);
}

describe('a snapshot', () => {
  it('of an untouched tree is the start tree; one edit is one path', async () => {
    expect(await seen()).toEqual([]);
    mkdirSync(join(root, 'build'));
    writeFileSync(join(root, 'build/out.o'), 'o');
    mkdirSync(join(root, 'lib/__pycache__'));
    writeFileSync(join(root, 'lib/__pycache__/a.cpython-313.pyc'), 'x');
    writeFileSync(join(root, 'run.log'), 'x');
    writeFileSync(join(root, 'lib/a.py'), 'AAAA\n');
    expect(await seen()).toEqual(['modify lib/a.py']);
  });

  it('is kept under a ref of the store, once for equal trees', async () => {
    writeFileSync(join(root, 'lib/a.py'), 'AAAA\n');
    const first = await workspace.snapshot();
    await workspace.snapshot();
    writeFileSync(join(root, 'lib/a.py'), 'BBBB\n');
    await workspace.snapshot();
    const refs = await made.store.refs('refs/orchestrator/r-1/T1/coder/');
    expect([...refs.keys()]).toEqual(['refs/orchestrator/r-1/T1/coder/1', 'refs/orchestrator/r-1/T1/coder/2']);
    const [commit] = refs.values();
    if (commit === undefined) throw new Error('no ref');
    expect(await made.store.treeOf(commit)).toBe(first.tree);
    expect(await made.store.parentsOf(commit)).toEqual([made.start.commit]);
  });

  it('sees creations, deletions, modes, links, and a file in place of a directory', async () => {
    writeFileSync(join(root, 'lib/new.py'), 'n');
    rmSync(join(root, 'lib/b.py'));
    chmodSync(join(root, 'prot/p.txt'), 0o755);
    symlinkSync('../prot/p.txt', join(root, 'lib/link'));
    rmSync(join(root, 'lib/sub'), { recursive: true });
    writeFileSync(join(root, 'lib/sub'), 'file now');
    expect(await seen()).toEqual([
      'delete lib/b.py',
      'create lib/link',
      'create lib/new.py',
      'create lib/sub',
      'delete lib/sub/c.py',
      'modify prot/p.txt',
    ]);
    rmSync(join(root, 'lib/sub'));
    mkdirSync(join(root, 'lib/sub'));
    writeFileSync(join(root, 'lib/sub/c.py'), 'c\n');
    rmSync(join(root, 'lib/a.py'));
    mkdirSync(join(root, 'lib/a.py'));
    writeFileSync(join(root, 'lib/a.py/x'), 'x');
    expect(await seen()).toEqual([
      'delete lib/a.py',
      'create lib/a.py/x',
      'delete lib/b.py',
      'create lib/link',
      'create lib/new.py',
      'modify prot/p.txt',
    ]);
  });

  it('does not follow a link in place of a directory', async () => {
    rmSync(join(root, 'lib/sub'), { recursive: true });
    symlinkSync('../prot', join(root, 'lib/sub'));
    expect(await seen()).toEqual(['create lib/sub', 'delete lib/sub/c.py']);
  });

  it('keeps names byte for byte', async () => {
    const names = [Buffer.from('lib/\xff.py', 'latin1'), Buffer.from('new\nline\t"x"'), Buffer.from(':(glob)**')];
    for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), 'x');
    const { tree } = await workspace.snapshot();
    const changes = await workspace.changes(made.start.tree, tree);
    expect(new Set(changes.map((change) => change.path))).toEqual(new Set(names.map((name) => pathFromBytes(name))));
  });

  it('takes raw bytes: text=auto hides no carriage return', async () => {
    writeFileSync(join(root, 'lib/b.py'), 'b\r\n');
    agentGit('config', 'core.autocrlf', 'true');
    expect(await seen()).toEqual(['modify lib/b.py']);
  });
});

describe('what an agent hides from its own git', () => {
  it('is seen: skip-worktree, assume-unchanged, fileMode, info/exclude', async () => {
    agentGit('update-index', '--skip-worktree', 'lib/a.py');
    agentGit('update-index', '--assume-unchanged', 'lib/b.py');
    agentGit('config', 'core.fileMode', 'false');
    appendFileSync(join(root, '.git/info/exclude'), 'hidden.py\n');
    writeFileSync(join(root, 'lib/a.py'), 'AAAA\n');
    writeFileSync(join(root, 'lib/b.py'), 'B\n');
    writeFileSync(join(root, 'hidden.py'), 'h');
    chmodSync(join(root, 'prot/p.txt'), 0o755);
    expect(agentGit('status', '--porcelain')).toBe('');
    expect(await seen()).toEqual(['create hidden.py', 'modify lib/a.py', 'modify lib/b.py', 'modify prot/p.txt']);
  });

  it('is seen: same size and a restored modification time', async () => {
    const file = join(root, 'lib/a.py');
    expect(await seen()).toEqual([]);
    const { atime, mtime } = statSync(file);
    writeFileSync(file, 'AAAA\n');
    utimesSync(file, atime, mtime);
    expect(await seen()).toEqual(['modify lib/a.py']);
  });

  it('is seen: ignore files that were changed, added or deleted', async () => {
    writeFileSync(join(root, '.gitignore'), '*\n');
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other/.gitignore'), '*\n');
    writeFileSync(join(root, 'other/x.py'), 'x');
    writeFileSync(join(root, 'lib/hidden.py'), 'h');
    mkdirSync(join(root, 'build'));
    writeFileSync(join(root, 'build/out.o'), 'o');
    expect(agentGit('status', '--porcelain')).toBe(' M .gitignore\n'); // positive control: plain git obeys
    expect(await seen()).toEqual([
      'modify .gitignore',
      'create lib/hidden.py',
      'create other/.gitignore',
      'create other/x.py',
    ]);
    rmSync(join(root, '.gitignore'));
    expect(await seen()).toEqual([
      'delete .gitignore',
      'create lib/hidden.py',
      'create other/.gitignore',
      'create other/x.py',
    ]);
  });

  it('runs nothing: fsmonitor, clean filter and hooks of the tree', async () => {
    const marker = join(made.scratch.base, 'ran');
    const script = join(made.scratch.base, 'evil.sh');
    writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat\n`, { mode: 0o755 });
    agentGit('config', 'core.fsmonitor', script);
    agentGit('config', 'filter.evil.clean', script);
    agentGit('config', 'filter.evil.smudge', script);
    writeFileSync(join(root, '.git/info/attributes'), '*.py filter=evil\n');
    mkdirSync(join(root, '.git/hooks'), { recursive: true });
    for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout']) {
      writeFileSync(join(root, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> '${marker}'\n`, { mode: 0o755 });
    }
    writeFileSync(join(root, 'lib/a.py'), 'AAAA\n');
    const { tree } = await workspace.snapshot();
    await workspace.savePatch({ from: made.start.tree, to: tree, paths: ['lib/a.py' as RepoPath], name: 'p' });
    await workspace.restore(made.start.tree, ['lib/a.py' as RepoPath]);
    writeFileSync(join(root, 'lib/b.py'), 'changed\n');
    await workspace.resetTo(made.start.tree);
    expect(existsSync(marker)).toBe(false);
    writeFileSync(join(root, 'lib/a.py'), 'BBBB\n');
    agentGit('status');
    agentGit('add', '-A');
    const ran = readFileSync(marker, 'utf8'); // positive control
    expect(ran).toContain('evil.sh');
    expect(ran).toContain('post-index-change');
  });

  it('is not led elsewhere by a rewritten .git', async () => {
    rmSync(join(root, '.git'), { recursive: true });
    writeFileSync(join(root, '.git'), `gitdir: ${made.scratch.root}/.git\n`);
    writeFileSync(join(root, 'lib/a.py'), 'AAAA\n');
    expect(await seen()).toEqual(['modify lib/a.py']);
  });
});

describe('nested repositories', () => {
  it('hide nothing, with or without commits, and are reported', async () => {
    for (const name of ['empty', 'full']) {
      const nested = join(root, 'lib', name);
      mkdirSync(nested);
      made.scratch.gitIn(nested, 'init', '-q');
      writeFileSync(join(nested, 'inside.py'), 'x');
    }
    made.scratch.gitIn(join(root, 'lib/full'), 'add', '-A');
    made.scratch.gitIn(join(root, 'lib/full'), 'commit', '-qm', 'x');
    mkdirSync(join(root, 'prot/fake'));
    writeFileSync(join(root, 'prot/fake/.git'), 'gitdir: /nowhere\n');
    mkdirSync(join(root, 'build/dep/.git'), { recursive: true });
    const snapshot = await workspace.snapshot();
    expect(snapshot.nestedRepositories.toSorted()).toEqual(['lib/empty/.git', 'lib/full/.git', 'prot/fake/.git']);
    expect(await seen()).toEqual(['create lib/empty/inside.py', 'create lib/full/inside.py']);
    const moved = await workspace.moveAside('lib/full/.git' as RepoPath, 'T1-coder-nested');
    expect(existsSync(join(moved, 'HEAD'))).toBe(true);
    expect((await workspace.snapshot()).nestedRepositories).not.toContain('lib/full/.git');
  });

  it('over tracked files do not hide edits of those', async () => {
    made.scratch.gitIn(join(root, 'lib'), 'init', '-q');
    made.scratch.gitIn(join(root, 'lib'), 'add', '-A');
    made.scratch.gitIn(join(root, 'lib'), 'commit', '-qm', 'x');
    writeFileSync(join(root, 'lib/a.py'), 'AAAA\n');
    expect(await seen()).toEqual(['modify lib/a.py']);
  });

  it('in disguise are reported, not recorded', async () => {
    mkdirSync(join(root, 'lib/.GIT'));
    writeFileSync(join(root, 'lib/.GIT/config'), 'x');
    writeFileSync(join(root, 'lib/.g\u200cit'), 'x');
    const snapshot = await workspace.snapshot();
    expect(snapshot.nestedRepositories.toSorted()).toEqual(['lib/.GIT', 'lib/.g\u200cit']);
    expect(await seen()).toEqual([]);
  });
});

describe('never-files', () => {
  it('are found among ignored and untracked ones, when new or changed since the start', async () => {
    writeFileSync(join(root, '.git/info/exclude'), '.env\n');
    mkdirSync(join(root, 'build/deep'), { recursive: true });
    writeFileSync(join(root, 'build/deep/.env'), 'K=1');
    expect((await workspace.snapshot()).neverPaths).toEqual(['build/deep/.env']);
    await workspace.release();
    workspace = await made.acquire();
    expect((await workspace.snapshot()).neverPaths).toEqual([]); // it was there at this step's start
    writeFileSync(join(root, 'build/deep/.env'), 'K=2');
    mkdirSync(join(root, 'policies'));
    writeFileSync(join(root, 'policies/global.yaml'), 'x');
    const { neverPaths } = await workspace.snapshot();
    expect(neverPaths.toSorted()).toEqual(['build/deep/.env', 'policies/global.yaml']);
    const moved = await workspace.moveAside('build/deep/.env' as RepoPath, 'T1/coder .env');
    expect(readFileSync(moved, 'utf8')).toBe('K=2');
    expect(lstatSync(moved).isFile()).toBe(true);
    expect((await workspace.snapshot()).neverPaths).toEqual(['policies/global.yaml']);
  });
});

describe('what cannot be recorded', () => {
  it('FIFOs and sockets do not stop a snapshot; in place of a tracked file they delete it', async () => {
    execFileSync('mkfifo', [join(root, 'lib/fifo')]);
    rmSync(join(root, 'lib/b.py'));
    execFileSync('mkfifo', [join(root, 'lib/b.py')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 's'), resolve));
    try {
      writeFileSync(join(root, 'lib/a.py'), 'AAAA\n');
      expect(await seen()).toEqual(['modify lib/a.py', 'delete lib/b.py']);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('fails closed and names what git refuses', async () => {
    symlinkSync('lib/a.py', join(root, '.gitmodules'));
    await expect(workspace.snapshot()).rejects.toThrow(/git refuses to hold "\.gitmodules".*Nothing was judged/);
    rmSync(join(root, '.gitmodules'));
    expect(await seen()).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)('fails closed and names an unreadable file or directory', async () => {
    chmodSync(join(root, 'lib/a.py'), 0o000);
    utimesSync(join(root, 'lib/a.py'), 1, 1);
    await expect(workspace.snapshot()).rejects.toThrow(/lib\/a\.py/);
    chmodSync(join(root, 'lib/a.py'), 0o644);
    chmodSync(join(root, 'lib/sub'), 0o000);
    await expect(workspace.snapshot()).rejects.toThrow(/cannot read "lib\/sub"/);
    chmodSync(join(root, 'lib/sub'), 0o755);
    expect(await seen()).toEqual([]);
  });
});
