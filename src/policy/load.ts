import type { RoleName } from '../domain/ids.ts';
import { agentProblems } from './agent-override.ts';
import { crossCheck, type ReadRole } from './cross-checks.ts';
import { digestOf } from './digest.ts';
import { readGlobalFile, readRoleFile } from './file-layers.ts';
import { type Layered, leavesOf } from './layers.ts';
import type { PolicySet, Problem } from './policy.ts';
import { readPolicyFiles } from './policy-files.ts';

export interface PolicySources {
  /** The `policies` directory. */
  readonly directory: string;
  /** Values for `${UPPER}`: `.env`, over what the caller falls back to. */
  readonly variables: ReadonlyMap<string, string>;
  /** `ORCHESTRATOR_…` variables that override single values. */
  readonly environment?: ReadonlyMap<string, string>;
}

export type LoadedPolicySet =
  | { readonly ok: true; readonly set: PolicySet }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads, merges and checks every policy file. All problems come back at once; nothing falls back to a default. */
export function loadPolicySet(sources: PolicySources): LoadedPolicySet {
  const files = readPolicyFiles(sources.directory);
  const problems: Problem[] = [...files.problems];
  const global = files.global && readGlobalFile(files.global, sources);
  problems.push(...(global?.problems ?? []));
  // Without variables every list would look wrong; role files are still checked against the known names.
  const variables = global?.policy?.vars;
  const roles = new Map<RoleName, ReadRole>();
  for (const file of files.roles) {
    const read = readRoleFile(file, sources, variables);
    problems.push(...read.problems);
    if (read.policy !== undefined && read.layered !== undefined) {
      roles.set(read.policy.role, { policy: read.policy, layered: read.layered });
    }
  }
  for (const file of files.agents) problems.push(...agentProblems(file, sources, new Set(roles.keys())));
  if (global?.policy === undefined || global.layered === undefined || problems.some(isError)) {
    return { ok: false, problems };
  }
  problems.push(...crossCheck({ policy: global.policy, layered: global.layered }, roles));
  if (problems.some(isError)) return { ok: false, problems };
  const policies = new Map([...roles].map(([name, role]) => [name, role.policy]));
  const set: PolicySet = {
    digest: policyDigest({ global: global.policy, roles: policies }),
    global: global.policy,
    roles: policies,
    warnings: problems,
    origins: new Map([
      ...originsOf('global', global.layered),
      ...[...roles].flatMap(([name, role]) => originsOf(`roles.${name}`, role.layered)),
    ]),
  };
  return { ok: true, set };
}

/** sha256 over every effective value; comments, order of keys and places do not count. Policies hold no secrets. */
export function policyDigest(policy: Pick<PolicySet, 'global' | 'roles'>): string {
  return digestOf(withoutOrigins(policy));
}

function withoutOrigins(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOrigins);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, withoutOrigins(item)]));
  if (typeof value !== 'object' || value === null) return value;
  const isRule = 'glob' in value && 'origin' in value;
  return isRule
    ? value.glob
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutOrigins(item)]));
}

function originsOf(prefix: string, layered: Layered): [string, { readonly value: unknown; readonly origin: string }][] {
  return leavesOf(layered.value).map(({ path, value }) => [
    [prefix, ...path].join('.'),
    { value, origin: layered.originOf(path) },
  ]);
}

function isError(problem: Problem): boolean {
  return problem.severity === 'error';
}
