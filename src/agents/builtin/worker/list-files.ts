import { readdir } from 'node:fs/promises';
import { pathFromBytes, type RepoPath, splitNul } from '../../../domain/path.ts';
import type { WorkerSettings } from './protocol.ts';
import { runProgram } from './run-program.ts';

/** Tracked files and new ones that are not ignored, sorted; without git, every file but those of `.git`. */
export async function listFiles(settings: WorkerSettings): Promise<RepoPath[]> {
  const listed = await gitFiles(settings, ['-co', '--exclude-standard']);
  const gone = new Set(listed === undefined ? [] : await gitFiles(settings, ['-d']));
  const paths = listed?.filter((path) => !gone.has(path)) ?? (await walk(settings.tree));
  return [...new Set(paths)].sort();
}

const MAX_BYTES = 200_000_000;
const TIMEOUT_MS = 60_000;

async function gitFiles(settings: WorkerSettings, which: readonly string[]): Promise<RepoPath[] | undefined> {
  const result = await runProgram({
    command: 'git',
    args: ['ls-files', '-z', ...which],
    cwd: settings.tree,
    env: {
      ...settings.commandEnv,
      GIT_OPTIONAL_LOCKS: '0',
      GIT_CEILING_DIRECTORIES: settings.tree.replace(/\/[^/]*$/, ''),
    },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  return result?.code === 0 ? splitNul(result.output).map(pathFromBytes) : undefined;
}

async function walk(tree: string): Promise<RepoPath[]> {
  const found: RepoPath[] = [];
  const pending: Buffer[] = [Buffer.alloc(0)];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    const absolute = Buffer.concat([Buffer.from(`${tree}/`), directory]);
    for (const entry of await readdir(absolute, { withFileTypes: true, encoding: 'buffer' }).catch(() => [])) {
      const path = directory.length === 0 ? entry.name : Buffer.concat([directory, Buffer.from('/'), entry.name]);
      if (entry.name.equals(Buffer.from('.git'))) continue;
      if (entry.isDirectory()) pending.push(path);
      else found.push(pathFromBytes(path));
    }
  }
  return found;
}
