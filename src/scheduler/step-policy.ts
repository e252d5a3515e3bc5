import { OrchestratorError } from '../domain/errors.ts';
import type { Run, Step } from '../domain/run.ts';
import type { RolePolicy } from '../policy/policy.ts';
import type { Engine } from './engine.ts';

/** The policy that a step works under: the role's as the run pinned it, with the agent's own override on top. */
export function stepPolicy(engine: Pick<Engine, 'policies'>, run: Run, step: Pick<Step, 'task' | 'role'>): RolePolicy {
  const shared = engine.policies.pinned(run).roles.get(step.role);
  if (shared === undefined) {
    throw new OrchestratorError('configuration', `role ${step.role} has no policy in policies/roles/`);
  }
  return engine.policies.forAgent(run, `${step.task}-${step.role}`, shared);
}
