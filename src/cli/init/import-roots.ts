import { posix } from 'node:path';

/** Directories that belong on PYTHONPATH, and modules that should then import from them. */
export interface ImportRoots {
  readonly roots: readonly string[];
  readonly modules: readonly string[];
}

/** Works out from the inventory how this project's own code is imported. `.` is the top of the tree. */
export function findImportRoots(
  paths: readonly string[],
  vars: { readonly code?: readonly string[]; readonly mods?: readonly string[] },
): ImportRoots {
  const files = new Set(paths);
  const found = [
    ...(vars.code ?? []).map((directory) => rootOfDirectory(directory, paths, files)),
    ...(vars.mods ?? []).map((file) => ({ root: posix.dirname(file), modules: [posix.basename(file, '.py')] })),
  ];
  return {
    roots: [...new Set(found.map(({ root }) => root))],
    modules: [...new Set(found.flatMap(({ modules }) => modules))],
  };
}

/** A package imports from its parent; a directory of packages (src, lib, python) is itself the root. */
function rootOfDirectory(
  directory: string,
  paths: readonly string[],
  files: ReadonlySet<string>,
): { root: string; modules: readonly string[] } {
  if (files.has(`${directory}/__init__.py`)) return asPackage(directory);
  const below = paths
    .filter((path) => path.startsWith(`${directory}/`))
    .map((path) => path.slice(directory.length + 1));
  const packages = below
    .filter((path) => /^[A-Za-z_]\w*\/__init__\.py$/.test(path))
    .map((path) => path.split('/', 1)[0] ?? '');
  const single = below.filter((path) => /^[A-Za-z_]\w*\.py$/.test(path)).map((path) => path.slice(0, -'.py'.length));
  // A namespace package: modules, no __init__.py, and not one of the names that hold packages.
  if (packages.length === 0 && single.length > 0 && !HOLDERS.has(posix.basename(directory).toLowerCase())) {
    return asPackage(directory);
  }
  return { root: directory, modules: [...packages, ...single] };
}

const HOLDERS: ReadonlySet<string> = new Set(['src', 'lib', 'lib2', 'lib3', 'python']);

function asPackage(directory: string): { root: string; modules: readonly string[] } {
  return { root: posix.dirname(directory), modules: [posix.basename(directory)] };
}
