import { OrchestratorError } from '../../domain/errors.ts';

/** Roles that a profile ships, in the order of the pipeline. */
const SHIPPED_ROLES = ['planner', 'coder', 'test', 'reviewer'] as const;
export type ShippedRole = (typeof SHIPPED_ROLES)[number];

/** Reads `planner,coder`; all four when nothing is given. */
export function chooseRoles(text: string | undefined): readonly ShippedRole[] {
  if (text === undefined) return SHIPPED_ROLES;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !SHIPPED_ROLES.some((role) => role === name));
  if (unknown.length > 0) {
    throw new OrchestratorError(
      'usage',
      `--roles ${text}: ${unknown.map((name) => `"${name}"`).join(', ')} is not one of ${SHIPPED_ROLES.join(', ')}; ` +
        'add roles of your own as files in policies/roles/ afterwards',
    );
  }
  return SHIPPED_ROLES.filter((role) => names.includes(role));
}

/** Whether the keys that are known already are one key for several roles. */
export function sharesOneKey(
  roles: readonly ShippedRole[],
  variables: Readonly<Record<string, string | undefined>>,
): boolean {
  const keys = roles
    .map((role) => variables[`ORCH_KEY_${role.toUpperCase()}`])
    .filter((key) => key !== undefined && key !== '');
  return keys.length > 1 && new Set(keys).size < keys.length;
}
