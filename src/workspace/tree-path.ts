import { pathToBytes, type RepoPath } from '../domain/path.ts';

/** The absolute path of a repository path as bytes: names need not be UTF-8. */
export function absoluteBytes(root: string | Buffer, path: RepoPath): Buffer {
  return Buffer.concat([typeof root === 'string' ? Buffer.from(root) : root, Buffer.from('/'), pathToBytes(path)]);
}

export function childPath(parent: RepoPath | undefined, name: string): RepoPath {
  return (parent === undefined ? name : `${parent}/${name}`) as RepoPath;
}

export function parentPath(path: RepoPath): RepoPath | undefined {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? undefined : (path.slice(0, slash) as RepoPath);
}

export function baseName(path: RepoPath): RepoPath {
  return path.slice(path.lastIndexOf('/') + 1) as RepoPath;
}

/** The directories above the paths, each once. */
export function directoriesAbove(paths: Iterable<RepoPath>): Set<RepoPath> {
  const directories = new Set<RepoPath>();
  for (const path of paths) {
    for (let above = parentPath(path); above !== undefined && !directories.has(above); above = parentPath(above)) {
      directories.add(above);
    }
  }
  return directories;
}
