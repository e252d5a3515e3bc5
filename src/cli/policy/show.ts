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
  const rows = [...valueRows(set, `roles.${role.role}.`), ...ruleRows(role), ...valueRows(set, 'global.')];
  if (options.json) {
    io.stdout(`${JSON.stringify({ role: role.role, digest: set.digest, values: rows }, undefined, 2)}\n`);
    return 0;
  }
  io.stdout(alignColumns(rows.flatMap(linesOf)));
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

function valueRows(set: PolicySet, prefix: string): readonly Row[] {
  const lists = new Set(BOUNDARY.map(({ name }) => name));
  return [...set.origins]
    .filter(([name]) => name.startsWith(prefix) && !(prefix !== 'global.' && lists.has(name.slice(prefix.length))))
    .map(([name, { value, origin }]) => ({
      name: prefix === 'global.' ? name : name.slice(prefix.length),
      value,
      origin,
    }));
}

function ruleRows(role: RolePolicy): readonly Row[] {
  return BOUNDARY.flatMap(({ name, rules }) =>
    rules(role).map((rule) => ({ name, value: rule.glob, origin: rule.origin })),
  );
}

const WIDEST_LIST = 60;

/** A long list is one value a line: some are longer than any screen. */
function linesOf({ name, value, origin }: Row): readonly (readonly string[])[] {
  const isLong = Array.isArray(value) && JSON.stringify(value).length > WIDEST_LIST;
  const values: readonly unknown[] = isLong ? value : [value];
  return values.map((one, index) =>
    [index === 0 ? name : '', JSON.stringify(one) ?? 'not set', index === 0 ? origin : ''].map((cell) =>
      escapeForDisplay(cell),
    ),
  );
}
