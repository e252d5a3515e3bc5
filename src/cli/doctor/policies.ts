import { join } from 'node:path';
import { type Check, found, passed } from '../../domain/check.ts';
import { OrchestratorError } from '../../domain/errors.ts';
import type { PolicySet, Problem, RolePolicy } from '../../policy/policy.ts';
import type { Io } from '../io.ts';

export interface FoundPolicies {
  readonly checks: readonly Check[];
  /** Undefined when the files cannot be used. */
  readonly set: PolicySet | undefined;
}

export async function examinePolicies(
  io: Io,
  root: string,
  variables: ReadonlyMap<string, string>,
): Promise<FoundPolicies> {
  const { loadPolicySet } = await import('../../policy/load.ts');
  const loaded = loadPolicySet({ directory: join(root, 'policies'), variables, environment: overrides(io) });
  const problems = (loaded.ok ? loaded.set.warnings : loaded.problems).map(problemCheck);
  if (!loaded.ok) return { checks: problems, set: undefined };
  const digest = loaded.set.digest.slice(0, 12);
  return { checks: [passed('policies', `sound (digest ${digest})`), ...problems], set: loaded.set };
}

/** The roles to look at: the pipeline's, or the one that was asked for. */
export async function rolesToCheck(set: PolicySet, wanted: string | undefined): Promise<readonly RolePolicy[]> {
  if (wanted === undefined) return set.global.pipeline.flatMap((name) => set.roles.get(name) ?? []);
  const { resolveRole } = await import('../../policy/start-check.ts');
  const role = resolveRole(set, wanted);
  if (role !== undefined) return [role];
  throw new OrchestratorError('usage', `there is no role ${wanted}; roles: ${[...set.roles.keys()].join(', ')}`);
}

function overrides(io: Io): ReadonlyMap<string, string> {
  const entries = Object.entries(io.env).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return name.startsWith('ORCHESTRATOR_') && name !== 'ORCHESTRATOR_STATE_DIR' && value !== undefined;
  });
  return new Map(entries);
}

function problemCheck(problem: Problem): Check {
  const { severity, file, line, column, message, suggestion } = problem;
  return found('policies', {
    level: severity,
    symptom: `${file}:${line}:${column}: ${message}`,
    cause: severity === 'error' ? '`start` refuses policies with errors' : 'it is allowed, and may not be meant',
    remedy: suggestion ?? '`orchestrator policy check` tells all about the files',
  });
}
