import { lstat, readlink } from 'node:fs/promises';
import { normalizeRepoPath, pathFromBytes, pathToBytes, type RepoPath } from '../../../domain/path.ts';
import { Failure } from './failure.ts';
import type { Resolved } from './protocol.ts';

/** Follows a path as written to where it leads, link by link, without opening anything. */
export async function resolvePath(tree: string, written: string): Promise<Resolved> {
  const relative = written.startsWith('/') ? belowTree(tree, written) : written;
  if (relative === undefined) return { place: 'outside', reason: 'the absolute path is not in this repository' };
  const path = normalizeRepoPath(relative);
  if (path === undefined) {
    return { place: 'outside', reason: 'the path leaves the repository, is empty, or holds a backslash or NUL' };
  }
  const parts = split(pathToBytes(path));
  const last = parts.pop();
  const own = last === undefined ? undefined : await walk(tree, parts);
  if (last === undefined || own === undefined) return ESCAPES;
  const ownPath = [...own, last];
  const target = await walk(tree, ownPath);
  if (target === undefined) return ESCAPES;
  if (target.length === 0) return { place: 'outside', reason: 'the path is a link to the top of the repository' };
  return {
    place: 'inside',
    own: join(ownPath),
    canonical: join(target),
    exists: await kindOf(toFile(tree, join(target))),
  };
}

/** The file of a canonical path; refused when a link has come into it since it was judged. */
export async function openable(
  tree: string,
  path: string,
  follow: 'links-refused' | 'last-may-be-link',
): Promise<Buffer> {
  const resolved = await resolvePath(tree, path);
  const still = resolved.place === 'inside' && (follow === 'links-refused' ? resolved.canonical : resolved.own);
  if (still !== path) throw new Failure(`${path} changed while it was looked at: a link appeared in it. Try again.`);
  return toFile(tree, path as RepoPath);
}

const ESCAPES: Resolved = { place: 'outside', reason: 'a symbolic link in the path leads out of the repository' };
const SLASH = 0x2f;
const LINKS_AT_MOST = 40;

function belowTree(tree: string, absolute: string): string | undefined {
  return absolute.startsWith(`${tree}/`) ? absolute.slice(tree.length + 1) : undefined;
}

/** The parts of the real path below the tree; undefined when it leads out of it or round in circles. */
async function walk(tree: string, parts: readonly Buffer[]): Promise<Buffer[] | undefined> {
  const top = split(Buffer.from(tree));
  const todo = [...top, ...parts];
  const done: Buffer[] = [];
  let links = 0;
  for (let part = todo.shift(); part !== undefined; part = todo.shift()) {
    if (part.equals(Buffer.from('..'))) {
      done.pop();
      continue;
    }
    const target = await linkTarget(absolute([...done, part]));
    if (target === undefined) {
      done.push(part);
      continue;
    }
    links += 1;
    if (links > LINKS_AT_MOST) return undefined;
    if (target[0] === SLASH) done.length = 0;
    todo.unshift(...split(target));
  }
  const inside = done.length >= top.length && top.every((part, index) => done[index]?.equals(part) === true);
  return inside ? done.slice(top.length) : undefined;
}

async function linkTarget(file: Buffer): Promise<Buffer | undefined> {
  try {
    return await readlink(file, { encoding: 'buffer' });
  } catch {
    // Not a link, or missing, or below a file: the operation itself will say so.
    return undefined;
  }
}

async function kindOf(file: Buffer): Promise<'file' | 'directory' | 'other' | 'missing'> {
  try {
    const found = await lstat(file);
    return found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
  } catch {
    return 'missing';
  }
}

function split(bytes: Buffer): Buffer[] {
  const parts = bytes.toString('latin1').split('/');
  return parts.filter((part) => part !== '' && part !== '.').map((part) => Buffer.from(part, 'latin1'));
}

function absolute(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [Buffer.from('/'), part]));
}

function join(parts: readonly Buffer[]): RepoPath {
  return pathFromBytes(absolute(parts).subarray(1));
}

function toFile(tree: string, path: RepoPath): Buffer {
  return Buffer.concat([Buffer.from(`${tree}/`), pathToBytes(path)]);
}
