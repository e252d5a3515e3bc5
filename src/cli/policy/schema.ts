import { OrchestratorError } from '../../domain/errors.ts';
import type { PolicyIo } from './policy-io.ts';

/** `policy schema [kind]`: JSON Schema for an editor; without a kind all of them under their names. */
export async function runPolicySchema(options: { readonly kind?: string }, io: PolicyIo): Promise<number> {
  const { jsonSchemaOf, SCHEMA_KINDS } = await import('../../policy/json-schema.ts');
  const kind = SCHEMA_KINDS.find((candidate) => candidate === options.kind);
  if (options.kind !== undefined && kind === undefined) {
    throw new OrchestratorError('usage', `there is no schema ${options.kind}: ${SCHEMA_KINDS.join(', ')}`);
  }
  const schema =
    kind === undefined
      ? Object.fromEntries(SCHEMA_KINDS.map((name) => [name, jsonSchemaOf(name)]))
      : jsonSchemaOf(kind);
  io.stdout(`${JSON.stringify(schema, undefined, 2)}\n`);
  return 0;
}
