import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { alternateEntry } from '../../../src/git/alternates.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-alternates-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function git(cwd: string, args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory, ...options.env };
  return execFileSync('git', args, { cwd, env, input: options.input ?? '', encoding: 'utf8', stdio: 'pipe' }).trim();
}

test.each(['plain', 'with space', 'c#', 'a"b', 'a:b', 'a\nb', 'a\\b:"c"'])('git borrows objects from %j', (name) => {
  const [lender, borrower] = [join(directory, name), join(directory, 'borrower')];
  for (const path of [lender, borrower]) {
    mkdirSync(path);
    git(path, ['init', '-q', '--bare']);
  }
  const blob = git(lender, ['hash-object', '-w', '--stdin'], { input: 'lent\n' });
  expect(() => git(borrower, ['cat-file', '-p', blob])).toThrow();
  const entry = alternateEntry(join(lender, 'objects'));
  expect(git(borrower, ['cat-file', '-p', blob], { env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: entry } })).toBe('lent');
  writeFileSync(join(borrower, 'objects/info/alternates'), `${entry}\n`);
  expect(git(borrower, ['cat-file', '-p', blob])).toBe('lent');
});
