import type { Assignment } from '../agents/runner.ts';
import type { Run } from '../domain/run.ts';
import type { RolePolicy } from '../policy/policy.ts';

/** A planner plans and a reviewer reviews, by their names and aliases. */
export function submissionOf(policy: RolePolicy, run: Run): Assignment['submits'] {
  const names = [policy.role, ...policy.aliases];
  if (names.includes('planner')) return run.manifest.singleRole === undefined ? 'plan' : 'nothing';
  return names.includes('reviewer') ? 'review' : 'nothing';
}
