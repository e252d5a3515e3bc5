import { OrchestratorError } from '../../domain/errors.ts';
import { escapeForDisplay } from '../../domain/escape.ts';
import type { PolicySet, RolePolicy, Rule } from '../../policy/policy.ts';
import { openCheckout } from './checkout.ts';
import { loadPoliciesOrThrow } from './load-policies.ts';
import type { PolicyIo } from './policy-io.ts';
import { alignColumns } from './table.ts';

/** `policy show <role>`: every effective value of a role, then the global ones, each with its origin. */
export async function runPolicyShow(
  options: { readonly role: string; readonly json: boolean; readonly variables: ReadonlyMap<string, string> },
  io: PolicyIo,
): Promise<number> {
  const checkout = await openCheckout(io);
  const set = await loadPoliciesOrThrow(io, checkout, options.variables);
  const { resolveRole } = await import('../../policy/start-check.ts');
  const role = resolveRole(set, options.role);
  if (role === undefined) {
    const roles = [...set.roles.keys()].join(', ');
    throw new OrchestratorError('usage', `there is no role ${options.role} in ${checkout.policies}; roles: ${roles}`);
  }
  const rows = [...valueRows(set, role), ...ruleRows(role)];
  if (options.json) {
    io.stdout(`${JSON.stringify({ role: role.role, digest: set.digest, values: rows }, undefined, 2)}\n`);
    return 0;
  }
  const lines = rows.map((row) =>
    [row.name, JSON.stringify(row.value) ?? 'not set', row.origin].map((cell) => escapeForDisplay(cell)),
  );
  io.stdout(alignColumns(lines));
  return 0;
}

interface Row {
  readonly name: string;
  readonly value: unknown;
  readonly origin: string;
}

/** Boundary lists as written are left out: the rules that count follow, one a line. */
const BOUNDARY: readonly { readonly name: string; readonly rules: (role: RolePolicy) => readonly Rule[] }[] = [
  { name: 'deny', rules: (role) => role.deny },
  { name: 'not_deny', rules: (role) => role.notDeny },
  { name: 'ask', rules: (role) => role.ask },
  { name: 'write', rules: (role) => role.write },
  { name: 'not_write', rules: (role) => role.notWrite },
  { name: 'create_only', rules: (role) => role.createOnly },
];

function valueRows(set: PolicySet, role: RolePolicy): readonly Row[] {
  const own = `roles.${role.role}.`;
  const lists = new Set(BOUNDARY.map(({ name }) => own + name));
  return [...set.origins]
    .filter(([name]) => (name.startsWith(own) || name.startsWith('global.')) && !lists.has(name))
    .toSorted(([first], [second]) => Number(first.startsWith('global.')) - Number(second.startsWith('global.')))
    .map(([name, { value, origin }]) => ({
      name: name.startsWith(own) ? name.slice(own.length) : name,
      value,
      origin,
    }));
}

function ruleRows(role: RolePolicy): readonly Row[] {
  return BOUNDARY.flatMap(({ name, rules }) =>
    rules(role).map((rule) => ({ name, value: rule.glob, origin: rule.origin })),
  );
}
