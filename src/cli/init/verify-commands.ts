import { findImportRoots } from './import-roots.ts';
import type { Python } from './python.ts';

export interface VerifyCommands {
  readonly environment?: string;
  readonly quick?: string;
  readonly full?: string;
}

export interface VerifyFacts {
  readonly profile: string;
  readonly vars: Readonly<Record<string, readonly string[]>>;
  /** The paths of the base tree. */
  readonly paths: readonly string[];
  readonly python: Python | undefined;
  /** PY_VERSION of the checkout, for the profile cpython. */
  readonly cpythonVersion?: string | undefined;
}

/**
 * The commands of `verify:`. The first is the gate: the module under test must import from the workspace, or a result
 * would say something about other code. Without tests in the tree there is nothing to run, and nothing is claimed.
 */
export function chooseVerifyCommands(facts: VerifyFacts): VerifyCommands {
  const { profile, paths, python } = facts;
  if (python === undefined) return {};
  if (profile === 'cpython') return cpythonCommands(python, paths, facts.cpythonVersion);
  const { roots, modules } = findImportRoots(paths, { code: names(facts, 'code'), mods: names(facts, 'mods') });
  const call = `${pythonPath(roots)}${quote(python.executable)}`;
  const module = modules.find((name) => !name.startsWith('_')) ?? modules[0];
  return {
    ...(module === undefined ? {} : { environment: `${call} -c ${quote(importGate(module))}` }),
    ...(paths.some(isTestFile) ? testCommands(call, python, facts) : {}),
  };
}

/**
 * A plain command that runs the tests named after it on the workspace's own code, for the roles to use. Undefined where
 * the usual commands do that: with `python -m` the top of the tree is on the path anyhow. Elsewhere they would test
 * another CPython's library, or whatever version of the package is installed.
 */
export function roleTestCommand(facts: VerifyFacts): string | undefined {
  const { profile, python } = facts;
  if (python === undefined) return undefined;
  if (profile === 'cpython') {
    const canRun = isSameMinor(python, facts.cpythonVersion);
    return canRun ? `PYTHONPATH=Lib ${quote(python.executable)} -m unittest` : undefined;
  }
  const { roots } = findImportRoots(facts.paths, { code: names(facts, 'code'), mods: names(facts, 'mods') });
  if (roots.every((root) => root === '.')) return undefined;
  const tool = python.hasPytest ? 'pytest -q' : 'unittest';
  return `PYTHONPATH=${quote(roots.join(':'))} ${quote(python.executable)} -m ${tool}`;
}

function isSameMinor(python: Python, version: string | undefined): boolean {
  const minor = version?.split('.').slice(0, 2).join('.');
  return minor !== undefined && python.version.startsWith(`${minor}.`);
}

function importGate(module: string): string {
  return [
    'import importlib, os, sys',
    `m = importlib.import_module("${module}")`,
    'f = os.path.realpath(m.__file__ or list(m.__path__)[0])',
    `sys.exit(0 if f.startswith(os.path.realpath(os.getcwd()) + os.sep) else "${module} imports from " + f)`,
  ].join('; ');
}

/**
 * CPython's own build takes minutes: people who want that set `workspace.setup` and `verify.full`. An interpreter of the
 * same version runs this workspace's Lib/ as it is, and the tests of what changed with it (the daemon gives their names
 * in CHANGED_TESTS). Without one, all that can be said is that the library found is this workspace's.
 */
function cpythonCommands(python: Python, paths: readonly string[], version: string | undefined): VerifyCommands {
  if (isSameMinor(python, version)) {
    const call = `PYTHONPATH="$PWD/Lib" ${quote(python.executable)}`;
    const tests = `[ -z "$CHANGED_TESTS" ] || ${call} -m unittest`;
    return {
      environment: `${call} -c ${quote(importGate('json'))}`,
      quick: `${tests} -f $CHANGED_TESTS`,
      full: `${tests} $CHANGED_TESTS`,
    };
  }
  const module =
    paths.map((path) => /^Lib\/([a-z]\w*)\.py$/.exec(path)?.[1]).find((name) => name !== undefined) ?? 'os';
  const check = [
    'import os, sys',
    'from importlib.machinery import PathFinder',
    `s = PathFinder.find_spec("${module}", [os.path.join(os.getcwd(), "Lib")])`,
    `sys.exit(0 if s else "Lib/${module}.py is not in this workspace")`,
  ].join('; ');
  return { environment: `${quote(python.executable)} -c ${quote(check)}` };
}

function testCommands(call: string, python: Python, facts: VerifyFacts): VerifyCommands {
  // A directory of JavaScript tests has the name of one too.
  const directories = names(facts, 'tests').filter((directory) =>
    facts.paths.some((path) => path.startsWith(`${directory}/`) && path.endsWith('.py')),
  );
  if (python.hasPytest) {
    const pytest = [call, '-m pytest -q', ...directories.map(quote)].join(' ');
    return { quick: `${pytest} -x`, full: pytest };
  }
  const files = new Set(facts.paths);
  const discover = (directory: string) => {
    const top = files.has(`${directory}/__init__.py`) ? ' -t .' : '';
    return `${call} -m unittest discover -s ${quote(directory)}${top}`;
  };
  const all = (directories.length === 0 ? ['.'] : directories).map(discover);
  return { quick: all.map((command) => `${command} -f`).join(' && '), full: all.join(' && ') };
}

/** Variables are globs; a name that had to be escaped is no path and is left out. */
function names(facts: VerifyFacts, variable: string): readonly string[] {
  return (facts.vars[variable] ?? []).filter((value) => !/[*?[\]{}]/.test(value));
}

function isTestFile(path: string): boolean {
  return /(?:^|\/)(?:test[^/]*|[^/]*_test|tests)\.py$/.test(path);
}

function pythonPath(roots: readonly string[]): string {
  const parts = roots.map((root) => (root === '.' ? '$PWD' : `$PWD/${root}`));
  return parts.length === 0 ? '' : `PYTHONPATH=${parts.map((part) => `"${part}"`).join(':')} `;
}

/** For /bin/sh. */
function quote(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
