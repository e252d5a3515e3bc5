import { OrchestratorError } from '../../domain/errors.ts';
import type { PolicySet, Problem } from '../../policy/policy.ts';
import type { Checkout } from './checkout.ts';
import type { PolicyIo } from './policy-io.ts';

export type Loaded =
  | { readonly ok: true; readonly set: PolicySet }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The policies of a checkout. `variables` are those of `.env`, laid over the process environment; a base URL or model
 * that is missing there is no problem here, `start` asks for it.
 */
export async function loadPolicies(
  io: PolicyIo,
  checkout: Checkout,
  variables: ReadonlyMap<string, string>,
): Promise<Loaded> {
  const { loadPolicySet } = await import('../../policy/load.ts');
  const environment = environmentOf(io);
  return loadPolicySet({
    directory: checkout.policies,
    variables: new Map([...environment, ...variables]),
    environment: new Map([...environment].filter(([name]) => name.startsWith('ORCHESTRATOR_'))),
  });
}

export async function loadPoliciesOrThrow(
  io: PolicyIo,
  checkout: Checkout,
  variables: ReadonlyMap<string, string>,
): Promise<PolicySet> {
  const loaded = await loadPolicies(io, checkout, variables);
  if (loaded.ok) return loaded.set;
  throw new OrchestratorError('configuration', `the policies in ${checkout.policies} have errors`, {
    details: loaded.problems.map(problemLine),
  });
}

export function problemLine(problem: Problem): string {
  const advice = problem.suggestion === undefined ? '' : ` (${problem.suggestion})`;
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.severity}: ${problem.message}${advice}`;
}

function environmentOf(io: PolicyIo): ReadonlyMap<string, string> {
  return new Map(Object.entries(io.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
