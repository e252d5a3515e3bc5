import { type Check, found, noted, passed } from '../../domain/check.ts';
import type { PolicySet, RolePolicy } from '../../policy/policy.ts';
import type { StartProblem } from '../../policy/start-check.ts';

interface Given {
  readonly set: PolicySet;
  readonly roles: readonly RolePolicy[];
  readonly variables: ReadonlyMap<string, string>;
}

/** What the roles need to be asked at all: base URL, keys, models, runners. No request is made. */
export async function roleChecks(given: Given): Promise<readonly Check[]> {
  const { startProblems, roleProblems } = await import('../../policy/start-check.ts');
  const { set, roles, variables } = given;
  const names = new Set(roles.map((role) => role.role));
  const outside = roles.filter((role) => !set.global.pipeline.includes(role.role));
  const problems = [
    ...startProblems(set, variables).filter(({ role }) => role === undefined || names.has(role)),
    ...outside.flatMap((role) => roleProblems(role, variables)),
  ];
  return [...(await baseUrlChecks(given)), ...problems.map(problemCheck), ...(await keyChecks(given, problems))];
}

function problemCheck({ about, role, what, cause, remedy }: StartProblem): Check {
  const name = role === undefined ? 'base URL' : `${about} ${role}`;
  return found(name, { level: 'error', symptom: `${what} cannot be used`, cause, remedy });
}

async function baseUrlChecks({ set, roles }: Given): Promise<readonly Check[]> {
  const { baseUrl, pathStyle } = set.global.gateway;
  if (baseUrl === undefined) return [];
  const { endpointUrl } = await import('../../gateway/preflight/alternatives.ts');
  const protocols = [...new Set(roles.map((role) => role.model.protocol))];
  const joined = protocols.map((protocol) => `${protocol} at ${endpointUrl({ baseUrl, pathStyle }, protocol).href}`);
  const check = passed('base URL', [baseUrl, ...joined].join(', '));
  return isInTheClear(new URL(baseUrl)) ? [check, CLEAR_TEXT] : [check];
}

function isInTheClear({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

const CLEAR_TEXT = found('base URL', {
  level: 'warning',
  symptom: 'the base URL is http:// on another machine',
  cause: 'keys and code go over the network in the clear',
  remedy: 'use https://',
});

async function keyChecks(given: Given, problems: readonly StartProblem[]): Promise<readonly Check[]> {
  const { keyProblems } = await import('../../policy/key-shape.ts');
  const { readRoleKey } = await import('../../policy/role-key.ts');
  const { keyTail } = await import('../../policy/env-file.ts');
  const holders = new Map<string, string>();
  return given.roles.flatMap((role): readonly Check[] => {
    const read = readRoleKey(role, given.variables);
    if (!('key' in read)) return [];
    const name = `key ${role.role}`;
    const where = role.key.kind === 'env' ? role.key.name : role.key.path;
    const holder = holders.get(read.key);
    holders.set(read.key, holder ?? role.role);
    const broken = keyProblems(read.key);
    if (broken.length > 0) return [shapeCheck(name, { where, broken, tail: keyTail(read.key) })];
    if (problems.some((problem) => problem.about === 'key' && problem.role === role.role)) return [];
    const sound = passed(name, `…${keyTail(read.key)} from ${where}`);
    const shared = `the same key as role ${holder}`;
    return holder === undefined ? [sound] : [sound, noted(name, shared, 'attribution rests on local counters')];
  });
}

function shapeCheck(name: string, seen: { where: string; broken: readonly string[]; tail: string }): Check {
  const { where, broken, tail } = seen;
  return found(name, {
    level: 'error',
    symptom: `the key …${tail} from ${where} ${broken.join(' and ')}`,
    cause: 'it was pasted with more, or less, than the key itself; nothing was sent with it',
    remedy: `paste the key again into ${where}, alone and without quotes`,
  });
}
