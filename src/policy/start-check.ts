import type { RoleName } from '../domain/ids.ts';
import type { PolicySet, RolePolicy } from './policy.ts';

/**
 * What `start` still needs for the roles of the pipeline, one sentence each, empty when nothing is missing. Keys are
 * compared, never shown. Keys in files are not read here.
 */
export function missingForStart(
  set: Pick<PolicySet, 'global' | 'roles'>,
  variables: ReadonlyMap<string, string>,
): readonly string[] {
  const missing: string[] = [];
  if (set.global.gateway.baseUrl === undefined) {
    missing.push('base URL: set ORCH_BASE_URL in .env, or gateway.base_url in policies/global.yaml');
  }
  const holders = new Map<string, RoleName>();
  for (const name of set.global.pipeline) {
    const role = set.roles.get(name);
    if (role === undefined) continue;
    missing.push(...missingForRole(role, variables));
    const key = keyIdentity(role, variables);
    const holder = key === undefined ? undefined : holders.get(key);
    if (key !== undefined && holder === undefined) holders.set(key, name);
    if (holder !== undefined && !set.global.allowSharedKey) {
      missing.push(
        `key of role ${name}: it is the same as that of role ${holder}; give each role its own key, ` +
          'or set allow_shared_key: true in policies/global.yaml (attribution then rests on local counters)',
      );
    }
  }
  return missing;
}

/** A role by its name or one of its aliases. */
export function resolveRole(set: Pick<PolicySet, 'roles'>, nameOrAlias: string): RolePolicy | undefined {
  const named = set.roles.get(nameOrAlias as RoleName);
  return named ?? [...set.roles.values()].find((role) => role.aliases.includes(nameOrAlias));
}

function missingForRole(role: RolePolicy, variables: ReadonlyMap<string, string>): readonly string[] {
  const suffix = role.role.toUpperCase().replaceAll('-', '_');
  const missing: string[] = [];
  if (role.key.kind === 'env' && (variables.get(role.key.name) ?? '') === '') {
    missing.push(`key of role ${role.role}: set ${role.key.name} in .env`);
  }
  if (role.model.id === undefined) {
    missing.push(
      `model of role ${role.role}: set ORCH_MODEL_${suffix} in .env, or model.id in policies/roles/${role.role}.yaml`,
    );
  }
  return missing;
}

function keyIdentity(role: RolePolicy, variables: ReadonlyMap<string, string>): string | undefined {
  if (role.key.kind === 'file') return `file:${role.key.path}`;
  const value = variables.get(role.key.name) ?? '';
  return value === '' ? undefined : `key:${value}`;
}
