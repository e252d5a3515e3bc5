import { plainScalar } from './value-references.ts';
import type { Place, ReadScalar, YamlPath, YamlSource } from './yaml-source.ts';

type Tree = Readonly<Record<string, unknown>>;

/** One policy file over its defaults, under the environment: what counts, and where each value comes from. */
export interface Layered {
  readonly value: Tree;
  placeOf(path: YamlPath): Place;
  placeOfKey(path: YamlPath): Place;
  /** `policies/roles/coder.yaml:12`, `environment ORCHESTRATOR_…`, `built-in default`. */
  originOf(path: YamlPath): string;
}

/** Files from weakest to strongest; each a map of the same shape. */
export function layer(input: {
  readonly defaults: Tree;
  readonly files: readonly YamlSource[];
  readonly readScalar: ReadScalar;
  /** Prefix of environment names that override single values, `ORCHESTRATOR_` or `ORCHESTRATOR_ROLE_CODER_`. */
  readonly environmentPrefix: string;
  readonly environment: ReadonlyMap<string, string>;
}): Layered {
  let value = expandAll(input.defaults, [], input.readScalar) as Tree;
  for (const file of input.files) value = merge(value, file.value as Tree);
  const overridden = new Map<string, string>();
  value = mapLeaves(value, [], (leaf, path) => {
    const name = environmentName(input.environmentPrefix, path);
    const text = canOverride(leaf, path) ? input.environment.get(name) : undefined;
    if (text === undefined) return leaf;
    overridden.set(path.join('.'), name);
    return plainScalar(text);
  }) as Tree;
  const strongest = input.files.toReversed();
  const fileOf = (path: YamlPath): YamlSource | undefined => strongest.find((file) => file.has(path)) ?? strongest[0];
  return {
    value,
    placeOf(path) {
      const name = overridden.get(path.join('.'));
      if (name !== undefined) return { file: `environment ${name}`, line: 1, column: 1 };
      return fileOf(path)?.placeOf(path) ?? NOWHERE;
    },
    placeOfKey: (path) => fileOf(path)?.placeOfKey(path) ?? NOWHERE,
    originOf(path) {
      const name = overridden.get(path.join('.'));
      if (name !== undefined) return `environment ${name}`;
      const file = strongest.find((candidate) => candidate.has(path));
      if (file === undefined) return 'built-in default';
      const place = file.placeOf(path);
      return `${place.file}:${place.line}`;
    },
  };
}

/** Every value with its path; a list is one value. */
export function leavesOf(value: unknown, path: YamlPath = []): readonly { path: YamlPath; value: unknown }[] {
  if (!isTree(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

const NOWHERE: Place = { file: 'built-in default', line: 1, column: 1 };

/** Boundaries, identity and keys come from reviewed files only. */
const FIXED: ReadonlySet<string> = new Set(['version', 'profile', 'role', 'key', 'vars', 'create_only_else']);

function canOverride(leaf: unknown, path: YamlPath): boolean {
  return !Array.isArray(leaf) && !FIXED.has(String(path[0]));
}

function environmentName(prefix: string, path: YamlPath): string {
  return prefix + path.map((part) => String(part).toUpperCase()).join('_');
}

function merge(lower: Tree, upper: Tree): Tree {
  const entries = new Map(Object.entries(lower));
  for (const [key, value] of Object.entries(upper)) {
    const under = entries.get(key);
    entries.set(key, isTree(under) && isTree(value) ? merge(under, value) : value);
  }
  return Object.fromEntries(entries);
}

function mapLeaves(value: unknown, path: YamlPath, change: (leaf: unknown, path: YamlPath) => unknown): unknown {
  if (!isTree(value)) return change(value, path);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapLeaves(inner, [...path, key], change)]),
  );
}

function expandAll(tree: Tree, path: YamlPath, readScalar: ReadScalar): unknown {
  return mapLeaves(tree, path, (leaf, at) => {
    if (typeof leaf !== 'string') return leaf;
    const read = readScalar(leaf, at);
    return 'value' in read ? read.value : leaf;
  });
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
