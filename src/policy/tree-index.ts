/** The paths of a tree, ready to be asked about directories. The top of the repository is the directory ``. */
export interface TreeIndex {
  readonly directories: readonly string[];
  has(path: string): boolean;
  /** Names of the directories directly inside. */
  childDirectories(directory: string): readonly string[];
  /** Names of the files directly inside. */
  childFiles(directory: string): readonly string[];
  /** Every path below, the directory's own prefix included. */
  below(directory: string): readonly string[];
}

export function indexTree(paths: readonly string[]): TreeIndex {
  const files = new Set(paths);
  const childDirectories = new Map<string, Set<string>>([['', new Set()]]);
  const childFiles = new Map<string, string[]>();
  const sorted = paths.toSorted();
  for (const path of sorted) {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    childFiles.set(parts.join('/'), [...(childFiles.get(parts.join('/')) ?? []), name]);
    for (let depth = parts.length; depth > 0; depth -= 1) {
      const parent = parts.slice(0, depth - 1).join('/');
      const known = childDirectories.get(parent) ?? new Set();
      childDirectories.set(parent, known.add(parts[depth - 1] ?? ''));
    }
  }
  const directories = [...childDirectories].flatMap(([parent, names]) => [...names].map((name) => join(parent, name)));
  return {
    directories: directories.toSorted(),
    has: (path) => files.has(path),
    childDirectories: (directory) => [...(childDirectories.get(directory) ?? [])].toSorted(),
    childFiles: (directory) => childFiles.get(directory) ?? [],
    below: (directory) => (directory === '' ? sorted : sorted.filter((path) => path.startsWith(`${directory}/`))),
  };
}

export function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

/** The directories that hold a path, nearest first, without the top. */
export function ancestorsOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, parts.length - 1 - index).join('/'));
}

export function isInside(path: string, directory: string): boolean {
  return directory === '' || path === directory || path.startsWith(`${directory}/`);
}
