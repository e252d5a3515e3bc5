import { OrchestratorError } from './domain/errors.ts';
import type { UserRepository } from './git/git.ts';
import { type RepositoryProblem, repositoryProblems } from './git/start-check.ts';
import type { PolicySet } from './policy/policy.ts';
import { missingForStart } from './policy/start-check.ts';

/** What the repository must be for a daemon to start. Throws `configuration` with the cure. */
export async function checkRepository(user: UserRepository): Promise<void> {
  const [first, ...others] = await repositoryProblems(user);
  if (first === undefined) return;
  const sentence = ({ symptom, cause, remedy }: RepositoryProblem) => `${symptom}: ${cause}; ${remedy}`;
  throw new OrchestratorError('configuration', sentence(first), { details: others.map(sentence) });
}

/** Key, model, base URL and runner of every role of the pipeline; each missing one is named. */
export function checkKeys(set: PolicySet, variables: ReadonlyMap<string, string>, envFile: string): void {
  const missing = missingForStart(set, variables);
  if (missing.length === 0) return;
  throw new OrchestratorError(
    'configuration',
    `the roles of the pipeline are not complete; edit ${envFile} (\`orchestrator path env\`)`,
    { details: missing },
  );
}
