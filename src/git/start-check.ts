import { OrchestratorError } from '../domain/errors.ts';
import type { UserRepository } from './git.ts';

/** Something of the repository that `start` refuses, and `doctor` explains. */
export interface RepositoryProblem {
  readonly about: 'clone' | 'branch';
  readonly symptom: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Throws `configuration` when there is no commit. */
export async function repositoryProblems(user: UserRepository): Promise<readonly RepositoryProblem[]> {
  await user.head();
  const problems: RepositoryProblem[] = [];
  if (await user.isPartialClone()) {
    problems.push({
      about: 'clone',
      symptom: `${user.root} is a partial clone`,
      cause: "agents' trees borrow its objects, and missing ones can't be fetched from there",
      remedy:
        'run `git fetch --refetch --no-filter` and remove `extensions.partialClone` and `remote.<name>.promisor`, or clone without --filter',
    });
  }
  if ((await user.resolve('refs/heads/orchestrator')) !== undefined) {
    problems.push({
      about: 'branch',
      symptom: 'a branch named `orchestrator` exists',
      cause: "git can't make branches below `orchestrator/` beside it",
      remedy: 'rename it: git branch -m orchestrator NEW-NAME',
    });
  }
  return problems;
}

/** The oldest git whose `merge-tree --write-tree` the merges rest on. */
const OLDEST_GIT = [2, 38] as const;

/** `git version 2.39.5 (Apple Git-154)`; undefined for a text that names no version. */
export function readGitVersion(text: string): { readonly version: string; readonly isNewEnough: boolean } | undefined {
  const match = /(\d+)\.(\d+)(\.\d+)*/.exec(text);
  if (match === null) return undefined;
  const [version, major, minor] = match;
  const [oldestMajor, oldestMinor] = OLDEST_GIT;
  const isNewEnough = Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
  return { version, isNewEnough };
}

export function requireGitVersion(text: string): void {
  if (readGitVersion(text)?.isNewEnough !== false) return;
  throw new OrchestratorError('configuration', `git ${text} is too old: ${OLDEST_GIT.join('.')} or newer is needed`);
}
