import { isProjectFreeZone, isSideDirectory, isTestLike, mayBeProductModule } from './layout-names.ts';
import { type ProjectMetadata, type ReadText, readMetadata } from './project-metadata.ts';
import { ancestorsOf, isInside, join, type TreeIndex } from './tree-index.ts';

export type LayoutKind = 'src' | 'lib' | 'flat' | 'module';

/** A project with code: the repository's top (``) or a directory with its own pyproject.toml or setup.py. */
export interface Project {
  readonly root: string;
  readonly kind: LayoutKind;
  readonly code: readonly string[];
  /** Modules at the top that are the product. */
  readonly modules: readonly string[];
}

/** Every project that has code, deepest first; what belongs to a deeper one is not looked at again. */
export async function findProjects(tree: TreeIndex, readText: ReadText): Promise<readonly Project[]> {
  const projects: Project[] = [];
  for (const root of candidateRoots(tree)) {
    const metadata = await readMetadata(tree, root, readText);
    const nested = projects.map((project) => project.root);
    const found = codeOf(tree, { root, metadata, nested });
    const modules = root === '' ? productModules(tree, metadata, found === undefined && nested.length === 0) : [];
    if (found !== undefined) projects.push({ root, ...found, modules });
    else if (modules.length > 0) projects.push({ root, kind: 'module', code: [], modules });
  }
  return projects;
}

const DEEPEST_PROJECT = 3;

function candidateRoots(tree: TreeIndex): readonly string[] {
  const nested = tree.directories.filter((directory) => {
    const parts = directory.split('/');
    if (parts.length > DEEPEST_PROJECT || parts.some(isProjectFreeZone)) return false;
    if (!tree.has(`${directory}/pyproject.toml`) && !tree.has(`${directory}/setup.py`)) return false;
    return !ancestorsOf(directory).some((ancestor) => tree.has(`${ancestor}/__init__.py`));
  });
  return [...nested.toSorted((first, second) => depth(second) - depth(first) || (first < second ? -1 : 1)), ''];
}

interface Candidate {
  readonly root: string;
  readonly metadata: ProjectMetadata;
  /** Roots of deeper projects that have code. */
  readonly nested: readonly string[];
}

type Found = { readonly kind: LayoutKind; readonly code: readonly string[] };

function codeOf(tree: TreeIndex, candidate: Candidate): Found | undefined {
  const { root, metadata } = candidate;
  const python = join(root, 'python');
  const source = join(root, 'src');
  const sourceFiles = ownFiles(tree, source, candidate);
  const hasPackages = tree.childDirectories(python).some((name) => tree.has(`${python}/${name}/__init__.py`));
  const mixed = hasPackages && !sourceFiles.some((path) => path.endsWith('/__init__.py'));
  if (metadata.pythonSource === 'python' || mixed) return { kind: 'src', code: [python] };
  if (sourceFiles.some(isPython)) return { kind: 'src', code: [source] };
  const libraries = libraryDirectories(tree, root);
  if (libraries.length > 0) return { kind: 'lib', code: libraries };
  const packages = flatPackages(tree, candidate);
  return packages.length > 0 ? { kind: 'flat', code: packages } : undefined;
}

function libraryDirectories(tree: TreeIndex, root: string): readonly string[] {
  return tree
    .childDirectories(root)
    .filter((name) => /^lib[23]?$/iu.test(name))
    .map((name) => join(root, name))
    .filter(
      (path) =>
        tree.has(`${path}/__init__.py`) ||
        tree.childDirectories(path).some((inner) => tree.has(`${path}/${inner}/__init__.py`)),
    );
}

function flatPackages(tree: TreeIndex, candidate: Candidate): readonly string[] {
  const { root, metadata, nested } = candidate;
  const open = tree
    .childDirectories(root)
    .filter((name) => !isSideDirectory(name) && !isTestLike(name))
    .map((name) => join(root, name))
    .filter((path) => !nested.some((inner) => isInside(inner, path)));
  const packages = open.filter((path) => tree.has(`${path}/__init__.py`) || tree.has(`${path}/__init__.pyi`));
  if (packages.length > 0 || metadata.name === undefined) return packages;
  // A namespace package has no __init__.py; the project's name says which directory it is.
  const normal = metadata.name.toLowerCase().replace(/[-_.]+/gu, '-');
  const names = new Set([normal.split('-')[0], normal.replaceAll('-', '_')]);
  return open.filter((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return names.has(name.toLowerCase()) && ownFiles(tree, path, candidate).some(isPython);
  });
}

function productModules(tree: TreeIndex, metadata: ProjectMetadata, nothingElse: boolean): readonly string[] {
  const listed = metadata.modules.filter((module) => tree.has(`${module}.py`)).map((module) => `${module}.py`);
  if (listed.length > 0 || !nothingElse) return listed;
  return tree.childFiles('').filter((name) => name.endsWith('.py') && mayBeProductModule(name.slice(0, -'.py'.length)));
}

function ownFiles(tree: TreeIndex, directory: string, candidate: Candidate): readonly string[] {
  return tree.below(directory).filter((path) => !candidate.nested.some((inner) => isInside(path, inner)));
}

function isPython(path: string): boolean {
  return path.endsWith('.py') || path.endsWith('.pyi');
}

function depth(path: string): number {
  return path.split('/').length;
}
