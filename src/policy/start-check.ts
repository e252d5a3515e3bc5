import type { RoleName } from '../domain/ids.ts';
import type { PolicySet, RolePolicy } from './policy.ts';
import { readRoleKey } from './role-key.ts';

/** Something that `start` refuses, and `doctor` explains. Keys are compared, never shown. */
export interface StartProblem {
  readonly about: 'base-url' | 'key' | 'model' | 'runner' | 'setting';
  /** Undefined for what concerns every role. */
  readonly role: RoleName | undefined;
  /** `key of role coder` */
  readonly what: string;
  readonly cause: string;
  readonly remedy: string;
}

const NONE = 'there is none';

/** What drives an agent in this version. */
export const DRIVEN_RUNNERS: readonly RolePolicy['runner'][] = ['builtin'];

/** Every problem of the roles of the pipeline, empty when `start` can go on. */
export function startProblems(
  set: Pick<PolicySet, 'global' | 'roles'>,
  variables: ReadonlyMap<string, string>,
): readonly StartProblem[] {
  const roles = set.global.pipeline.flatMap((name) => set.roles.get(name) ?? []);
  return [
    ...baseUrlProblems(set),
    ...settingProblems(set),
    ...roles.flatMap((role, index) => [
      ...roleProblems(role, variables),
      ...(set.global.allowSharedKey ? [] : sharedKeyProblems(role, roles.slice(0, index), variables)),
    ]),
  ];
}

/** The same, one sentence each. */
export function missingForStart(
  set: Pick<PolicySet, 'global' | 'roles'>,
  variables: ReadonlyMap<string, string>,
): readonly string[] {
  return startProblems(set, variables).map(
    ({ what, cause, remedy }) => `${what}: ${cause === NONE ? '' : `${cause}; `}${remedy}`,
  );
}

/** A role by its name or one of its aliases. */
export function resolveRole(set: Pick<PolicySet, 'roles'>, nameOrAlias: string): RolePolicy | undefined {
  const named = set.roles.get(nameOrAlias as RoleName);
  return named ?? [...set.roles.values()].find((role) => role.aliases.includes(nameOrAlias));
}

/** What a role on its own lacks: a key, a model, a runner that is driven here. */
export function roleProblems(role: RolePolicy, variables: ReadonlyMap<string, string>): readonly StartProblem[] {
  return [...keyProblem(role, variables), ...modelProblem(role), ...runnerProblem(role)];
}

function baseUrlProblems(set: Pick<PolicySet, 'global'>): readonly StartProblem[] {
  if (set.global.gateway.baseUrl !== undefined) return [];
  const remedy = 'set ORCH_BASE_URL in .env, or gateway.base_url in policies/global.yaml';
  return [{ about: 'base-url', role: undefined, what: 'base URL', cause: NONE, remedy }];
}

/** What the policy language has and this version does not act on: refused, since it would be a promise that nobody keeps. */
function settingProblems({ global }: Pick<PolicySet, 'global'>): readonly StartProblem[] {
  const about = { about: 'setting', role: undefined } as const;
  const cause = (value: string) => `this version does not act on ${value}`;
  const remedy = (name: string, value: string) => `set ${name}: ${value} in policies/global.yaml`;
  return [
    ...(global.workspace.isolation === 'private'
      ? []
      : [{ ...about, what: 'workspace.isolation', cause: cause('shared'), remedy: remedy('isolation', 'private') }]),
    ...(global.approvalPassphrase === 'off'
      ? []
      : [{ ...about, what: 'approval.passphrase', cause: cause('required'), remedy: remedy('passphrase', 'off') }]),
    ...(global.checkpoints.merge === 'ask'
      ? []
      : [{ ...about, what: 'checkpoints.merge', cause: cause('auto'), remedy: remedy('merge', 'ask') }]),
  ];
}

function keyProblem({ key, role }: RolePolicy, variables: ReadonlyMap<string, string>): readonly StartProblem[] {
  const read = readRoleKey({ key }, variables);
  if ('key' in read) return [];
  const problem = { about: 'key', role, what: `key of role ${role}` } as const;
  if (key.kind === 'env') return [{ ...problem, cause: NONE, remedy: `set ${key.name} in .env` }];
  return [{ ...problem, cause: read.problem, remedy: `put the key alone into ${key.path}, mode 0600` }];
}

function modelProblem({ model, role }: RolePolicy): readonly StartProblem[] {
  if (model.id !== undefined) return [];
  const suffix = role.toUpperCase().replaceAll('-', '_');
  const remedy = `set ORCH_MODEL_${suffix} in .env, or model.id in policies/roles/${role}.yaml`;
  return [{ about: 'model', role, what: `model of role ${role}`, cause: NONE, remedy }];
}

function runnerProblem({ model, role, runner }: RolePolicy): readonly StartProblem[] {
  const problem = { about: 'runner', role, what: `runner of role ${role}` } as const;
  if (!DRIVEN_RUNNERS.includes(runner)) {
    const remedy = `set runner in policies/roles/${role}.yaml to one of: ${DRIVEN_RUNNERS.join(', ')}`;
    return [{ ...problem, cause: `this version does not drive ${runner}`, remedy }];
  }
  if (runner !== 'builtin' || model.protocol !== 'openai-responses') return [];
  const remedy = `set model.protocol in policies/roles/${role}.yaml to anthropic or openai-chat`;
  return [{ ...problem, cause: 'the built-in agent does not speak openai-responses', remedy }];
}

function sharedKeyProblems(
  role: RolePolicy,
  earlier: readonly RolePolicy[],
  variables: ReadonlyMap<string, string>,
): readonly StartProblem[] {
  const key = keyOf(role, variables);
  const holder = earlier.find((other) => key !== undefined && keyOf(other, variables) === key);
  if (holder === undefined) return [];
  return [
    {
      about: 'key',
      role: role.role,
      what: `key of role ${role.role}`,
      cause: `it is the same as that of role ${holder.role}`,
      remedy:
        'give each role its own key, or set allow_shared_key: true in policies/global.yaml ' +
        '(attribution then rests on local counters)',
    },
  ];
}

/** What reports have to say where several roles of the pipeline use one key; undefined when none do. */
export function sharedKeyNote(
  set: Pick<PolicySet, 'global' | 'roles'>,
  variables: ReadonlyMap<string, string>,
): string | undefined {
  const roles = set.global.pipeline.flatMap((name) => set.roles.get(name) ?? []);
  const sharing = roles.filter((role) =>
    roles.some((other) => {
      const key = keyOf(role, variables);
      return other !== role && key !== undefined && keyOf(other, variables) === key;
    }),
  );
  if (sharing.length === 0) return undefined;
  return `one key is shared by ${sharing.map(({ role }) => role).join(', ')}: their figures rest on local counters, the provider can't tell them apart.`;
}

function keyOf(role: RolePolicy, variables: ReadonlyMap<string, string>): string | undefined {
  const read = readRoleKey(role, variables);
  return 'key' in read ? read.key : undefined;
}
