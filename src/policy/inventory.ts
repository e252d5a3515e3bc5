import type { Project } from './code-roots.ts';
import { CONTROL_DIRECTORIES, FRAGMENT_DIRECTORIES, isTestLike } from './layout-names.ts';
import { ancestorsOf, isInside, join, type TreeIndex } from './tree-index.ts';

export interface Inventory {
  readonly code: readonly string[];
  readonly mods: readonly string[];
  readonly tests: readonly string[];
  /** Project roots below the top, and the directories that hold them. */
  readonly proj: readonly string[];
  readonly other: readonly string[];
}

/** Every directory of the tree that is nobody's lane yet, beside the lanes that were found. */
export function takeInventory(tree: TreeIndex, projects: readonly Project[]): Inventory {
  const code = projects.flatMap((project) => project.code);
  const roots = projects.map((project) => project.root).filter((root) => root !== '');
  const holders = roots.flatMap(ancestorsOf);
  const proj = unique([...roots, ...holders]).filter((path) => !code.includes(path));
  const parents = unique(['', ...proj]);
  const isLane = (path: string): boolean => code.includes(path) || proj.includes(path);
  const children = parents.flatMap((parent) =>
    tree.childDirectories(parent).map((name) => ({ name, path: join(parent, name) })),
  );
  const tests = children.filter(({ name, path }) => isTestLike(name) && !isLane(path)).map(({ path }) => path);
  const other = children
    .filter(({ name, path }) => !isLane(path) && !tests.includes(path) && !isReserved(name, path))
    .map(({ path }) => path)
    // A directory on the way to code (`python/` of `python/pkg`) would shadow it: ask comes before write.
    .filter((path) => !code.some((root) => isInside(root, path)));
  return {
    code,
    mods: projects.flatMap((project) => project.modules),
    tests: unique(tests),
    proj,
    other: unique(other),
  };
}

function isReserved(name: string, path: string): boolean {
  return FRAGMENT_DIRECTORIES.has(name) || CONTROL_DIRECTORIES.has(path);
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted();
}
