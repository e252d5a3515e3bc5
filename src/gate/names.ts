import type { RepoPath } from '../domain/path.ts';

export interface NameProblem {
  readonly path: RepoPath;
  readonly special: 'git-alias' | 'backslash' | 'trailing-dot-or-space' | 'name-collision';
  readonly reason: string;
}

/**
 * Names that other file systems read differently (security.md section 4 step 6): `.git` by another spelling anywhere
 * in the result; backslashes, trailing dots and spaces, and names that differ only by case or Unicode form where the
 * change introduces them. What the base already had so is the user's own.
 */
export function nameProblems(
  resultPaths: readonly RepoPath[],
  introduced: ReadonlySet<RepoPath>,
): readonly NameProblem[] {
  const problems: NameProblem[] = [];
  for (const path of resultPaths) {
    const problem = spellingProblem(path, introduced.has(path));
    if (problem !== undefined) problems.push(problem);
  }
  return [...problems, ...collisions(resultPaths, introduced)];
}

/** Whether HFS+ or NTFS would take this component for `.git`. */
export function isGitAlias(component: string): boolean {
  const hfs = component.replace(IGNORED_BY_HFS, '').toLowerCase();
  // NTFS drops trailing dots and spaces and what follows a colon (a stream name); git~1 is the short name of .git.
  const ntfs = component
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
  return hfs === '.git' || ntfs === '.git' || ntfs === 'git~1';
}

/** One spelling for all names that a case-insensitive or Unicode-normalising volume takes for the same. */
export function foldName(name: string): string {
  return name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}

/** Code points that HFS+ leaves out when it compares names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

function spellingProblem(path: RepoPath, isNew: boolean): NameProblem | undefined {
  const components = path.split('/');
  if (components.some(isGitAlias)) {
    return { path, special: 'git-alias', reason: 'a part of the name is .git to some file system' };
  }
  if (!isNew) return undefined;
  if (path.includes('\\')) return { path, special: 'backslash', reason: 'the name holds a backslash' };
  if (components.some((component) => /[. ]$/.test(component))) {
    return { path, special: 'trailing-dot-or-space', reason: 'a part of the name ends in a dot or a space' };
  }
  return undefined;
}

/** Directories count too: `Lib/x` beside `lib/y` is one directory on a volume that folds. */
function collisions(resultPaths: readonly RepoPath[], introduced: ReadonlySet<RepoPath>): NameProblem[] {
  const spellings = new Map<string, Set<string>>();
  const seen = new Set<string>();
  for (const path of resultPaths) {
    for (const prefix of prefixesOf(path)) {
      if (seen.has(prefix)) continue;
      seen.add(prefix);
      const folded = foldName(prefix);
      const known = spellings.get(folded);
      if (known === undefined) spellings.set(folded, new Set([prefix]));
      else known.add(prefix);
    }
  }
  const old = oldPrefixes(resultPaths, introduced);
  const problems: NameProblem[] = [];
  for (const path of introduced) {
    const clash = prefixesOf(path)
      .filter((prefix) => !old.has(prefix))
      .map((prefix) => [...(spellings.get(foldName(prefix)) ?? [])].find((spelling) => spelling !== prefix))
      .find((spelling) => spelling !== undefined);
    if (clash !== undefined) {
      problems.push({
        path,
        special: 'name-collision',
        reason: `the name equals ${clash} where case or form is folded`,
      });
    }
  }
  return problems;
}

function oldPrefixes(resultPaths: readonly RepoPath[], introduced: ReadonlySet<RepoPath>): ReadonlySet<string> {
  return new Set(resultPaths.filter((path) => !introduced.has(path)).flatMap(prefixesOf));
}

/** `a/b/c` → `a`, `a/b`, `a/b/c`. */
function prefixesOf(path: string): string[] {
  const prefixes: string[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) prefixes.push(path.slice(0, end));
  return [...prefixes, path];
}
