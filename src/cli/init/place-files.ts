import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrchestratorError } from '../../domain/errors.ts';

export interface Placed {
  /** Relative to the directory that they were placed in. */
  readonly written: readonly string[];
  /** Were there already and are as they were. */
  readonly kept: readonly string[];
}

/** Writes files below `directory`; one that exists is never overwritten. */
export async function placeFiles(directory: string, files: ReadonlyMap<string, string>, mode: number): Promise<Placed> {
  return place([...files.keys()], async (name) => {
    await prepareParents(directory, name);
    await writeFile(join(directory, name), files.get(name) ?? '', { flag: 'wx', mode });
  });
}

/** Copies every file below `from` to below `to`; one that exists there is never overwritten. */
export async function copyMissing(from: string, to: string): Promise<Placed> {
  return place(await filesBelow(from), async (name) => {
    await prepareParents(to, name);
    await copyFile(join(from, name), join(to, name), constants.COPYFILE_EXCL);
  });
}

/** Makes `to` hold what `from` holds now. Files that are only in `to` stay: they may be all that is left of something. */
export async function copyOver(from: string, to: string): Promise<void> {
  for (const name of await filesBelow(from)) {
    await prepareParents(to, name);
    await copyFile(join(from, name), join(to, name));
  }
}

async function place(names: readonly string[], put: (name: string) => Promise<void>): Promise<Placed> {
  const written: string[] = [];
  const kept: string[] = [];
  for (const name of names) {
    try {
      await put(name);
      written.push(name);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      kept.push(name);
    }
  }
  return { written, kept };
}

/** A repository may hold `policies` as a link that leads out of it; nothing is written through one. */
async function prepareParents(directory: string, name: string): Promise<void> {
  let parent = directory;
  for (const part of dirname(name).split('/')) {
    parent = join(parent, part);
    const found = await lstat(parent).catch(() => undefined);
    if (found === undefined) await mkdir(parent, { recursive: true });
    else if (!found.isDirectory()) {
      throw new OrchestratorError('configuration', `${parent} should be a directory and is not: move it away`);
    }
  }
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted();
}
