import type { Change } from '../domain/decision.ts';
import type { RepoPath } from '../domain/path.ts';

/**
 * Paths of the user's tree that a change would overwrite.
 *
 * `dirty`: uncommitted work (an untracked directory may be named by itself, with a slash). `existing`: paths that the
 * change creates and where something lies already, ignored files too; a directory that the change empties is no
 * obstacle to the file that takes its place.
 */
export function overlappingPaths(options: {
  changes: readonly Change[];
  dirty: readonly RepoPath[];
  existing: readonly RepoPath[];
}): readonly RepoPath[] {
  const { changes, dirty, existing } = options;
  const changed = new Set<string>();
  const above = new Set<string>();
  const emptied = new Set<string>();
  for (const { path, operation } of changes) {
    changed.add(path);
    for (const directory of directoriesOf(path)) {
      above.add(directory);
      if (operation === 'delete') emptied.add(directory);
    }
  }
  const isInTheWay = (path: RepoPath): boolean =>
    changed.has(path) || above.has(path) || directoriesOf(path).some((directory) => changed.has(directory));
  return [...new Set([...dirty.filter(isInTheWay), ...existing.filter((path) => !emptied.has(path))])].sort();
}

function directoriesOf(path: string): string[] {
  const directories: string[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) directories.push(path.slice(0, end));
  return directories;
}
