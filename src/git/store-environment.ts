import { dirname, join } from 'node:path';

/** Where git is looked for when nothing is said. */
const DEFAULT_SEARCH_PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';

/**
 * The environment of the daemon's own git, built from nothing: no configuration of user or system, no replace objects,
 * no pathspec magic, no prompt, no optional lock, a private home (git reads `$HOME/.config/git/ignore` otherwise).
 */
export function storeEnvironment(options: {
  directory: string;
  searchPath: string | undefined;
}): Readonly<Record<string, string>> {
  const home = join(options.directory, 'home');
  return {
    PATH: options.searchPath ?? DEFAULT_SEARCH_PATH,
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: 'C',
    GIT_DIR: options.directory,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CEILING_DIRECTORIES: dirname(options.directory),
  };
}

/** Settings of every call; they win over the store's configuration file. */
export const STORE_CONFIG: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=',
  'core.untrackedCache=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.fileMode=true',
  'core.symlinks=true',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreCase=false',
  'core.autocrlf=false',
  'core.eol=lf',
  'core.safecrlf=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.commitGraph=false',
  'core.quotePath=false',
  'protocol.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  'merge.renames=true',
  'merge.directoryRenames=false',
  'diff.renames=false',
];

/**
 * Highest-precedence attributes: bytes are taken as they are, whatever a tree says. `merge` and `diff` go back to
 * unspecified, so that no driver or textconv is chosen by a `.gitattributes`; text stays text in patches.
 */
export const RAW_ATTRIBUTES =
  '* -text -ident -filter -working-tree-encoding !eol !crlf !diff !merge !conflict-marker-size !delta\n';

/** Products that count as ignored unless the base tracks them (product.md, "Decision order"). */
export const ALWAYS_IGNORED: readonly string[] = [
  '__pycache__/',
  '*.py[cod]',
  '.pytest_cache/',
  '.mypy_cache/',
  '.ruff_cache/',
  '.hypothesis/',
  '.coverage',
  '.coverage.*',
  '.tox/',
  '.nox/',
  '.venv/',
];
