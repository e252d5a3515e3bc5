import type { RepoPath } from '../domain/path.ts';

/**
 * A path as a text column. Databases replace lone surrogates, which would merge different byte paths (security.md I9),
 * so a path that holds one is kept as a JSON string; so is a path that would be read as one.
 */
export function pathToColumn(path: RepoPath): string {
  return path.isWellFormed() && !path.startsWith('"') ? path : JSON.stringify(path);
}

export function pathFromColumn(column: string): RepoPath {
  return (column.startsWith('"') ? JSON.parse(column) : column) as RepoPath;
}
