import { lstat, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import type { RepoPath } from '../domain/path.ts';
import { anchorDirectory } from './anchor.ts';
import { absoluteBytes, baseName, parentPath } from './tree-path.ts';

/** Writes a patch as a new file of the staging directory; an earlier one of that name is kept. */
export async function stagePatch(directory: string, name: string, patch: Buffer): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const file of candidates(directory, name, '.patch')) {
    try {
      await writeFile(file, patch, { flag: 'wx', mode: 0o600 });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw full(directory, name);
}

/** Moves a path out of an agent's tree into the staging directory, without following links on the way to it. */
export async function stagePath(options: {
  readonly root: string;
  readonly path: RepoPath;
  readonly directory: string;
  readonly name: string;
}): Promise<string> {
  const { root, path, directory } = options;
  const shown = escapeForDisplay(path);
  if (path === '.git' || path.startsWith('.git/')) {
    throw new OrchestratorError('failed', `"${shown}" belongs to the workspace's own repository and is not moved`);
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const anchor = await anchorDirectory(root, parentPath(path), { make: false });
  if (anchor === undefined) {
    throw new OrchestratorError(
      'failed',
      `cannot move "${shown}" aside: a directory above it is gone or became a link`,
    );
  }
  try {
    for (const target of candidates(directory, options.name, '')) {
      if ((await lstat(target).catch(() => undefined)) !== undefined) continue;
      await rename(absoluteBytes(anchor.path, baseName(path)), target);
      return target;
    }
  } catch (error) {
    throw new OrchestratorError('failed', `cannot move "${shown}" of ${root} to ${directory}: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    await anchor.close();
  }
  throw full(directory, options.name);
}

function* candidates(directory: string, name: string, suffix: string): Generator<string> {
  const safe =
    name
      .replace(/[^A-Za-z0-9._-]+/g, '_')
      .replace(/^\.+/, '_')
      .slice(0, 100) || 'item';
  yield join(directory, `${safe}${suffix}`);
  for (let ordinal = 2; ordinal < 10_000; ordinal += 1) yield join(directory, `${safe}-${ordinal}${suffix}`);
}

function full(directory: string, name: string): OrchestratorError {
  return new OrchestratorError('failed', `${directory} holds ten thousand items named "${name}"; remove old runs`);
}
