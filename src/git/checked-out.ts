import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Branches in use in any work tree: the one HEAD points at, and the one that a rebase or bisect under way will return
 * to. Read from the git directories: git's own list leaves the latter out.
 */
export async function branchesInUse(commonDirectory: string): Promise<ReadonlySet<string>> {
  const linked = await readdir(join(commonDirectory, 'worktrees')).catch(() => []);
  const directories = [commonDirectory, ...linked.map((name) => join(commonDirectory, 'worktrees', name))];
  const branches = new Set<string>();
  for (const directory of directories) {
    for (const file of ['HEAD', 'rebase-merge/head-name', 'rebase-apply/head-name', 'BISECT_START']) {
      const text = (await readFile(join(directory, file), 'utf8').catch(() => '')).trim();
      const name = text.replace(/^ref: /, '');
      if (name.startsWith('refs/heads/')) branches.add(name);
      else if (file === 'BISECT_START' && name !== '') branches.add(`refs/heads/${name}`);
    }
  }
  return branches;
}
