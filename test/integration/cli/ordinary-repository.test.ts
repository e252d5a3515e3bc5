import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findOrdinaryRepository } from '../../../src/cli/ordinary-repository.ts';

let base: string;
let root: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'orch-ordinary-')));
  root = join(base, 'project');
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  git(root, 'init', '-q');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.invalid'];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8' }).trim();
}

const find = (directory: string, uid = process.getuid?.() ?? 0) => findOrdinaryRepository(directory, uid);

test('says what git says, from the top, from below and through a link', () => {
  symlinkSync(join(root, 'src'), join(base, 'link'));
  for (const directory of [root, join(root, 'src/deep'), join(base, 'link')]) {
    expect(find(directory)).toEqual({
      root: git(directory, 'rev-parse', '--show-toplevel'),
      commonDirectory: git(directory, 'rev-parse', '--path-format=absolute', '--git-common-dir'),
    });
  }
});

test('leaves to git what is not ordinary', () => {
  git(root, 'commit', '-q', '--allow-empty', '-m', 'base');
  git(root, 'worktree', 'add', '-q', join(base, 'linked'));
  git(base, 'init', '-q', '--bare', 'bare.git');
  mkdirSync(join(base, 'elsewhere'));
  const places = [join(base, 'linked'), join(base, 'bare.git'), join(root, '.git'), join(root, '.git/refs')];
  for (const directory of [...places, base, join(base, 'missing')]) expect(find(directory)).toBeUndefined();
  expect(find(root)).toBeDefined();
  expect(find(root, 4_000_000)).toBeUndefined();
  git(root, 'config', 'core.worktree', join(base, 'elsewhere'));
  expect(find(root)).toBeUndefined();
});
