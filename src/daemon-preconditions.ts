import { OrchestratorError } from './domain/errors.ts';
import type { UserRepository } from './git/git.ts';
import type { PolicySet } from './policy/policy.ts';
import { missingForStart } from './policy/start-check.ts';

/** What the repository must be for a daemon to start. Throws `configuration` with the cure. */
export async function checkRepository(user: UserRepository): Promise<void> {
  await user.head();
  if (await user.isPartialClone()) {
    throw new OrchestratorError(
      'configuration',
      `${user.root} is a partial clone: agents' trees borrow its objects, and missing ones can't be fetched from there. Run \`git fetch --refetch --no-filter\` and remove \`extensions.partialClone\`, or clone without --filter`,
    );
  }
  if ((await user.resolve('refs/heads/orchestrator')) !== undefined) {
    throw new OrchestratorError(
      'configuration',
      "a branch named `orchestrator` exists, so git can't make branches below `orchestrator/`: rename it (git branch -m orchestrator NEW-NAME) or use `run --target BRANCH`",
    );
  }
}

/** Key, model and base URL of every role of the pipeline; each missing one is named. */
export function checkKeys(set: PolicySet, variables: ReadonlyMap<string, string>, envFile: string): void {
  const missing = missingForStart(set, variables);
  if (missing.length === 0) return;
  throw new OrchestratorError(
    'configuration',
    `the roles of the pipeline are not complete; edit ${envFile} (\`orchestrator path env\`)`,
    { details: missing },
  );
}
