import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

export interface ToolchainOptions {
  /** The value of PATH. */
  readonly path: string;
  /** The running node. */
  readonly execPath: string;
  /** Our package; undefined when only the running node is wanted. */
  readonly packageRoot: string | undefined;
  readonly home: string | undefined;
}

/**
 * What must stay readable when homes are hidden: the directories of PATH with the prefixes that they belong to, the
 * running node, our package. Existing directories (a few files), as written and resolved; never a home as a whole,
 * never `/`, never a directory that only holds one of them (a checkout with a .venv gives the .venv alone).
 */
export function toolchainPaths(options: ToolchainOptions): string[] {
  const directories = options.path.split(':').filter((entry) => path.isAbsolute(entry) && isDirectory(entry));
  const wanted = [
    ...directories.flatMap((directory) => ofPathDirectory(directory, options.home)),
    ...ofProgram(options.execPath),
    ...(options.packageRoot === undefined ? [] : ofPackage(options.packageRoot)),
    ...(directories.some(hasCompilerCache) && options.home !== undefined ? compilerCache(options.home) : []),
  ];
  const tooMuch = new Set(['/', ...homes(options.home)]);
  return [...new Set(wanted.map((one) => path.resolve(one)))].filter(
    (one) => existsSync(one) && !tooMuch.has(one) && !tooMuch.has(realpathSync(one)),
  );
}

function ofPathDirectory(directory: string, home: string | undefined): string[] {
  const real = realpathSync(directory);
  const prefixes = [directory, real].flatMap((one) => [...prefixOf(one), ...managerRoot(one)]);
  return [directory, real, ...prefixes, ...programsBehindLinks(real, home)];
}

/**
 * The prefix of a `bin` directory, when it is one: a virtual environment with its base interpreter, or a directory
 * that has what a prefix has. `~/bin` or a checkout's `bin` belongs to no prefix.
 */
function prefixOf(directory: string): string[] {
  if (!/^s?bin$/.test(path.basename(directory))) return [];
  const prefix = path.dirname(directory);
  const configuration = path.join(prefix, 'pyvenv.cfg');
  if (existsSync(configuration)) return [prefix, ...baseOfVirtualEnvironment(configuration)];
  // `~/.local` looks like one too, but also holds what programs keep about a person.
  if (path.basename(prefix) === '.local') return [directory, path.join(prefix, 'lib'), path.join(prefix, 'libexec')];
  const looksLikePrefix = ['lib', 'lib64', 'libexec', 'include'].some((name) => isDirectory(path.join(prefix, name)));
  return looksLikePrefix && !isDirectory(path.join(prefix, '.git')) ? [prefix] : [];
}

function baseOfVirtualEnvironment(configuration: string): string[] {
  const home = /^home\s*=\s*(.+?)\s*$/m.exec(readFileSync(configuration, 'utf8'))?.[1];
  if (home === undefined || !path.isAbsolute(home) || !isDirectory(home)) return [];
  const real = realpathSync(home);
  return [home, real, ...[home, real].flatMap((one) => [...prefixOf(one), ...managerRoot(one)])];
}

/** Version managers keep programs and what those need apart: shims look for versions below the same root. */
function managerRoot(directory: string): string[] {
  const found = /^(.*\/(?:\.?pyenv|\.nvm|\.volta|\.asdf|\.rustup|\.cargo|\.rbenv|\.sdkman|\.bun|mise))(?:\/|$)/.exec(
    directory,
  );
  const root = found?.[1];
  if (root === undefined) return [];
  switch (path.basename(root)) {
    case '.cargo':
      // The registry's credentials lie beside `bin`; the compilers behind the proxies lie in rustup's directory.
      return [
        path.join(root, 'bin'),
        path.join(path.dirname(root), '.rustup', 'toolchains'),
        path.join(path.dirname(root), '.rustup', 'settings.toml'),
      ];
    case '.nvm':
      return [path.join(root, 'versions')];
    default:
      return [root];
  }
}

/** Programs in a home's `bin` are often links to where they live: uv's pythons, pipx environments. */
function programsBehindLinks(directory: string, home: string | undefined): string[] {
  if (home === undefined || !isInside(directory, realOr(home))) return [];
  const entries = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return entries.slice(0, MAX_LINKS).flatMap((entry) => ofProgram(path.join(directory, entry.name)));
}

const MAX_LINKS = 500;

function ofProgram(program: string): string[] {
  const real = realOr(program);
  if (!existsSync(real)) return [];
  const directory = path.dirname(real);
  const prefixes = [...prefixOf(directory), ...managerRoot(directory)];
  // A program outside of any prefix comes back alone: its directory may hold anything.
  return prefixes.length > 0 ? [directory, ...prefixes] : [real];
}

/** Not the root itself: who works on this project has a checkout there, and that stays hidden. */
function ofPackage(root: string): string[] {
  const parts = ['package.json', 'bin', 'dist', 'src', 'node_modules'].map((name) => path.join(root, name));
  const around = path.dirname(root);
  return path.basename(around) === 'node_modules' ? [...parts, around] : parts;
}

function hasCompilerCache(directory: string): boolean {
  return existsSync(path.join(directory, 'ccache'));
}

function compilerCache(home: string): string[] {
  return [path.join(home, '.ccache'), path.join(home, '.cache', 'ccache'), path.join(home, '.config', 'ccache')];
}

function homes(home: string | undefined): string[] {
  const named = ['/root', '/home', ...(home === undefined ? [] : [home, path.dirname(home)])];
  return named.flatMap((one) => [one, realOr(one)]);
}

function isInside(directory: string, parent: string): boolean {
  return directory.startsWith(`${parent}/`);
}

function isDirectory(candidate: string): boolean {
  return statSync(candidate, { throwIfNoEntry: false })?.isDirectory() === true;
}

function realOr(candidate: string): string {
  try {
    return realpathSync(candidate);
  } catch {
    return candidate;
  }
}
