import type { RoleName } from '../domain/ids.ts';
import { compileGlobs } from './glob.ts';
import type { Layered } from './layers.ts';
import type { GlobalPolicy, Problem, RolePolicy } from './policy.ts';
import { didYouMean } from './suggest.ts';

export interface ReadRole {
  readonly policy: RolePolicy;
  readonly layered: Layered;
}

/** What no single file can know: roles that the pipeline names, names used twice, an unprotected policy directory. */
export function crossCheck(
  global: { readonly policy: GlobalPolicy; readonly layered: Layered },
  roles: ReadonlyMap<RoleName, ReadRole>,
): readonly Problem[] {
  return [...pipelineProblems(global, roles), ...aliasProblems(roles), ...openPolicyWarning(global)];
}

function pipelineProblems(
  global: { readonly policy: GlobalPolicy; readonly layered: Layered },
  roles: ReadonlyMap<RoleName, ReadRole>,
): readonly Problem[] {
  const { pipeline } = global.policy;
  return pipeline.flatMap((role, index): Problem[] => {
    const place = { severity: 'error' as const, ...global.layered.placeOf(['pipeline', index]) };
    if (pipeline.indexOf(role) !== index) return [{ ...place, message: `\`pipeline\` names ${role} twice` }];
    if (roles.has(role)) return [];
    const suggestion = didYouMean(role, roles.keys()) ?? `roles: ${[...roles.keys()].join(', ')}`;
    return [
      { ...place, message: `\`pipeline\` names ${role}, but there is no policies/roles/${role}.yaml`, suggestion },
    ];
  });
}

function aliasProblems(roles: ReadonlyMap<RoleName, ReadRole>): readonly Problem[] {
  const owners = new Map<string, string>([...roles.keys()].map((role) => [role, role]));
  const problems: Problem[] = [];
  for (const [role, { policy, layered }] of roles) {
    policy.aliases.forEach((alias, index) => {
      const owner = owners.get(alias);
      owners.set(alias, role);
      if (owner === undefined) return;
      const message = `alias ${alias} is already the name of role ${owner}`;
      problems.push({ severity: 'error', ...layered.placeOf(['aliases', index]), message });
    });
  }
  return problems;
}

function openPolicyWarning(global: { readonly policy: GlobalPolicy; readonly layered: Layered }): readonly Problem[] {
  const never = compileGlobs(
    global.policy.never.map((rule) => rule.glob),
    { foldCase: false },
  );
  const open = CONTROL_FILES.filter((path) => !never.matches(path));
  if (open.length === 0) return [];
  const message = `\`never\` does not cover ${open.join(', ')}: a role that may write there could change its own limits`;
  return [{ severity: 'warning', ...global.layered.placeOf(['never']), message }];
}

const CONTROL_FILES = ['policies/global.yaml', 'policies/roles/coder.yaml', '.git/config', '.env'] as const;
