/** Names that say what a directory or file of a Python repository is for. Measured on 40 repositories. */

const TEST_LIKE = /^(t|tests?|testing|testsuite|tests?[-_]?data|tests?[-_].+|.+[-_]tests?|@tests|.+[-_]testdata)$/iu;

/** A directory that holds tests, by its name. */
export function isTestLike(directory: string): boolean {
  return TEST_LIKE.test(directory);
}

const SIDE_DIRECTORIES: ReadonlySet<string> = new Set(
  (
    'docs doc documentation examples example demos demo samples tutorial tutorials notebooks scripts script tools tool ' +
    'bin benchmarks benchmark bench asv_bench perf profiling ci ci_tools build build_tools dist packaging release docker ' +
    'dev devtools admin maint hacking misc extra extras contrib licenses ext vendor vendored third_party utils util ' +
    'tasks stubs typings data requirements reqs news changes changelog changelogs newsfragments policies agent-notes'
  ).split(' '),
);

/** Never the product, even when it has an `__init__.py`. */
export function isSideDirectory(directory: string): boolean {
  return directory.startsWith('.') || SIDE_DIRECTORIES.has(directory.toLowerCase());
}

const NO_PROJECT =
  /^(tests?|testing|docs?|documentation|examples?|demos?|samples?|vendor|_vendor|third_party|templates?|benchmarks?|tools?|scripts?|fixtures?)$/u;

/** A project file below such a directory belongs to a test, a sample or a tool. */
export function isProjectFreeZone(directory: string): boolean {
  return NO_PROJECT.test(directory);
}

/** Where changelog fragments are made; they are a lane of their own. */
export const FRAGMENT_DIRECTORIES: ReadonlySet<string> = new Set([
  'changelog.d',
  '.changelog',
  'newsfragments',
  'news',
  'changes',
  'CHANGES',
  'changelog',
  'changelogs',
]);

/** Belongs to nobody's lane: who controls agents does not sit in the inventory. */
export const CONTROL_DIRECTORIES: ReadonlySet<string> = new Set([
  '.git',
  '.orchestrator',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  'policies',
  'agent-notes',
]);

const HELPER_MODULES: ReadonlySet<string> = new Set(
  'setup conftest noxfile tasks fabfile versioneer conf manage toxfile dodo pavement wscript bootstrap ez_setup'.split(
    ' ',
  ),
);

/** A module at the top that may be the product, by its name without `.py`. */
export function mayBeProductModule(module: string): boolean {
  return !HELPER_MODULES.has(module) && !/^(test_.*|.*_tests?|_.*)$/u.test(module);
}
