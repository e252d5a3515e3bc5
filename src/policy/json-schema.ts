import { z } from 'zod';
import { profileSchema } from './profile-file.ts';
import { agentSchema, globalSchema, roleSchema } from './schema.ts';

export const SCHEMA_KINDS = ['global', 'role', 'agent', 'profile'] as const;
export type SchemaKind = (typeof SCHEMA_KINDS)[number];

/** JSON Schema of a policy file as people write it: every field that has a default may be left out. */
export function jsonSchemaOf(kind: SchemaKind): Readonly<Record<string, unknown>> {
  const { schema, required } = SCHEMAS[kind];
  const generated = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { ...(withoutRequired(generated) as Record<string, unknown>), title: `orchestrator ${kind} file`, required };
}

const SCHEMAS = {
  global: { schema: globalSchema, required: ['version'] },
  role: { schema: roleSchema, required: ['version', 'role'] },
  agent: { schema: agentSchema, required: ['version', 'role'] },
  profile: { schema: profileSchema, required: [] },
} as const satisfies Record<SchemaKind, { readonly schema: z.ZodType; readonly required: readonly string[] }>;

/** Objects nested in lists (`sources`) have no defaults and keep what they require. */
function withoutRequired(node: unknown): unknown {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return node;
  const entries = Object.entries(node).filter(([key]) => key !== 'required');
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === 'properties' ? mapValues(value, withoutRequired) : value]),
  );
}

function mapValues(value: unknown, change: (inner: unknown) => unknown): unknown {
  return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, change(inner)]));
}
