import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Stage } from './stage.ts';

const HOOKS = [
  'pre-commit',
  'post-commit',
  'post-checkout',
  'post-merge',
  'reference-transaction',
  'post-index-change',
];

/** Gives the user things of their own that must stay as they are: a stash, work in progress, hooks that would tell. */
export async function furnish(stage: Stage, tracked: string): Promise<void> {
  await writeFile(path.join(stage.project, tracked), 'stashed = True\n');
  await stage.git('stash', 'push', '-q', '-m', 'mine');
  await writeFile(path.join(stage.project, tracked), 'dirty = True\n');
  await writeFile(path.join(stage.project, 'scratch.txt'), 'untracked\n');
  const hooks = path.join(stage.project, '.git/hooks');
  await mkdir(hooks, { recursive: true });
  for (const name of HOOKS) {
    await writeFile(path.join(hooks, name), `#!/bin/sh\necho ${name} >> "${stage.directory}/hook-ran"\n`);
    await chmod(path.join(hooks, name), 0o755);
  }
}

/** What belongs to the user, as bytes: compare one taken before with one taken after. */
export async function userState(stage: Stage): Promise<Readonly<Record<string, string>>> {
  const hooks = path.join(stage.project, '.git/hooks');
  const hookFiles = (await readdir(hooks)).sort();
  return {
    status: await stage.git('--no-optional-locks', 'status', '--porcelain=v1', '--untracked-files=all'),
    head: await stage.git('rev-parse', '--symbolic-full-name', 'HEAD', 'HEAD^{commit}'),
    branches: (await stage.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'))
      .split('\n')
      .filter((line) => !line.startsWith('refs/heads/orchestrator/'))
      .join('\n'),
    stash: await stage.git('stash', 'list'),
    index: await digestOf(path.join(stage.project, '.git/index')),
    config: await digestOf(path.join(stage.project, '.git/config')),
    hooks: (await Promise.all(hookFiles.map((name) => digestOf(path.join(hooks, name))))).join(' '),
    hookRuns: await readFile(path.join(stage.directory, 'hook-ran'), 'utf8').catch(() => 'none ran'),
  };
}

/** Lock files of git below a directory: what a dead process left behind. */
export async function lockFiles(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.lock'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
