import { GLOBAL_DEFAULTS, roleDefaults } from './defaults.ts';
import { effectiveGlobal } from './effective-global.ts';
import { effectiveRole } from './effective-role.ts';
import { type Layered, layer } from './layers.ts';
import type { ListVariables } from './list-variables.ts';
import type { GlobalPolicy, Problem, RolePolicy } from './policy.ts';
import type { PolicyFile } from './policy-files.ts';
import { globalSchema, roleSchema } from './schema.ts';
import { parseLayered } from './schema-problems.ts';
import { valueReader } from './value-references.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

export interface Values {
  readonly variables: ReadonlyMap<string, string>;
  readonly environment?: ReadonlyMap<string, string>;
}

export interface ReadFile<Policy> {
  readonly policy?: Policy;
  readonly layered?: Layered;
  readonly problems: readonly Problem[];
}

export function readGlobalFile(file: PolicyFile, values: Values): ReadFile<GlobalPolicy> {
  const readScalar = valueReader(values.variables);
  const yaml = readYaml(file.text, file.label, readScalar);
  if (yaml.source === undefined) return { problems: yaml.problems };
  const layered = layer({
    defaults: GLOBAL_DEFAULTS,
    files: [yaml.source],
    readScalar,
    environmentPrefix: 'ORCHESTRATOR_',
    environment: values.environment ?? new Map(),
  });
  const parsed = parseLayered(globalSchema, layered);
  if (parsed.file === undefined) return { layered, problems: parsed.problems };
  const { global, problems } = effectiveGlobal(parsed.file, layered);
  return { policy: global, layered, problems };
}

/** `variables` is undefined when global.yaml could not be read: then globs are not checked. */
export function readRoleFile(
  file: PolicyFile,
  values: Values,
  variables: ListVariables | undefined,
  override?: YamlSource,
): ReadFile<RolePolicy> {
  const readScalar = valueReader(values.variables);
  const yaml = readYaml(file.text, file.label, readScalar);
  if (yaml.source === undefined) return { problems: yaml.problems };
  const layered = layer({
    defaults: roleDefaults(file.name),
    files: override === undefined ? [yaml.source] : [yaml.source, override],
    readScalar,
    environmentPrefix: `ORCHESTRATOR_ROLE_${file.name.toUpperCase().replaceAll('-', '_')}_`,
    environment: values.environment ?? new Map(),
  });
  const parsed = parseLayered(roleSchema, layered);
  const named = nameProblems(yaml.source, file);
  if (parsed.file === undefined) return { layered, problems: [...parsed.problems, ...named] };
  if (variables === undefined) return { layered, problems: named };
  const { role, problems } = effectiveRole(parsed.file, layered, variables);
  return { policy: role, layered, problems: [...problems, ...named] };
}

function nameProblems(source: YamlSource, file: PolicyFile): readonly Problem[] {
  const { role } = source.value as { readonly role?: unknown };
  if (typeof role !== 'string' || role === file.name) return [];
  const message = `\`role: ${role}\` differs from the file name: make it \`role: ${file.name}\` or rename the file to ${role}.yaml`;
  return [{ severity: 'error', ...source.placeOf(['role']), message }];
}
