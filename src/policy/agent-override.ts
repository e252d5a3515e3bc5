import type { RoleName } from '../domain/ids.ts';
import { readGlobalFile, readRoleFile, type Values } from './file-layers.ts';
import { layer } from './layers.ts';
import type { Problem, RolePolicy } from './policy.ts';
import { type PolicyFile, readPolicyFiles } from './policy-files.ts';
import { agentSchema } from './schema.ts';
import { parseLayered } from './schema-problems.ts';
import { didYouMean } from './suggest.ts';
import { valueReader } from './value-references.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

export type LoadedAgentOverride =
  | { readonly ok: true; readonly role: RolePolicy; readonly overridden: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The role policy of one agent: `policies/agents/<name>.yaml` over the role that it names. Undefined when there is no
 * such file. `overridden` lists the dotted names that the file sets.
 */
export function loadAgentOverride(
  input: Values & { readonly directory: string; readonly name: string },
): LoadedAgentOverride | undefined {
  const files = readPolicyFiles(input.directory);
  const file = files.agents.find((candidate) => candidate.name === input.name);
  if (file === undefined) return undefined;
  const agent = readAgentFile(file, input);
  if (agent.source === undefined) return { ok: false, problems: agent.problems };
  const roleFile = files.roles.find((candidate) => candidate.name === agent.role);
  const global = files.global && readGlobalFile(files.global, input);
  if (roleFile === undefined || global?.policy === undefined) {
    return { ok: false, problems: [...(global?.problems ?? []), unknownRole(agent.source, agent.role, files.roles)] };
  }
  const read = readRoleFile(roleFile, input, global.policy.vars, agent.source);
  const errors = read.problems.filter((problem) => problem.severity === 'error');
  if (read.policy === undefined || errors.length > 0) return { ok: false, problems: errors };
  return { ok: true, role: read.policy, overridden: agent.overridden };
}

/** Problems of an agent file by itself. */
export function agentProblems(file: PolicyFile, values: Values, roles: ReadonlySet<RoleName>): readonly Problem[] {
  const agent = readAgentFile(file, values);
  if (agent.source === undefined || roles.has(agent.role as RoleName)) return agent.problems;
  return [
    ...agent.problems,
    unknownRole(
      agent.source,
      agent.role,
      [...roles].map((name) => ({ name })),
    ),
  ];
}

interface ReadAgent {
  /** Undefined when there are problems. */
  readonly source: YamlSource | undefined;
  readonly role: string;
  readonly overridden: readonly string[];
  readonly problems: readonly Problem[];
}

const KEY_SHAPED = /(^|_)(api_?)?keys?$|(^|_)tokens?$|secret|password|credential|authorization|bearer/iu;
const NOT_KEYS: ReadonlySet<string> = new Set(['max_output_tokens']);

function readAgentFile(file: PolicyFile, values: Values): ReadAgent {
  const readScalar = valueReader(values.variables);
  const yaml = readYaml(file.text, file.label, readScalar);
  const { source } = yaml;
  if (source === undefined) return { source, role: '', overridden: [], problems: yaml.problems };
  const layered = layer({ defaults: {}, files: [source], readScalar, environmentPrefix: '', environment: new Map() });
  const keys = keyShapedProblems(source);
  const parsed = parseLayered(agentSchema, layered);
  const isKeyProblem = (problem: Problem): boolean =>
    keys.some((other) => other.line === problem.line && other.column === problem.column);
  const problems = [...keys, ...parsed.problems.filter((problem) => !isKeyProblem(problem))];
  return {
    source: problems.length === 0 ? source : undefined,
    role: parsed.file?.role ?? '',
    overridden: pathsOf(source.value, [])
      .map((path) => path.join('.'))
      .filter((name) => name !== 'version' && name !== 'role'),
    problems,
  };
}

function keyShapedProblems(source: YamlSource): readonly Problem[] {
  return allKeys(source.value, [])
    .filter((path) => KEY_SHAPED.test(path.at(-1) ?? '') && !NOT_KEYS.has(path.at(-1) ?? ''))
    .map((path) => ({
      severity: 'error',
      ...source.placeOfKey(path),
      message: `\`${path.join('.')}\` looks like a key: an agent's override holds behaviour only`,
      suggestion: 'keys are named in policies/roles/<role>.yaml as `key: env:NAME`',
    }));
}

function unknownRole(source: YamlSource, role: string, known: readonly { readonly name: string }[]): Problem {
  const names = known.map(({ name }) => name);
  const message = `\`role: ${role}\` has no policies/roles/${role}.yaml`;
  const suggestion = didYouMean(role, names) ?? `roles: ${names.join(', ')}`;
  return { severity: 'error', ...source.placeOf(['role']), message, suggestion };
}

function allKeys(value: unknown, path: readonly string[]): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...allKeys(inner, [...path, key])]);
}

function pathsOf(value: unknown, path: readonly string[]): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]));
}
