import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jsonSchemaOf, SCHEMA_KINDS } from '../../../src/policy/json-schema.ts';

test('the schema that the shipped profiles name is the current one', () => {
  const file = new URL('../../../policies/schema/profile.schema.json', import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(jsonSchemaOf('profile'))));
});

test('fields with defaults may be left out, unknown ones may not be there', () => {
  const role = jsonSchemaOf('role') as {
    required: string[];
    additionalProperties: boolean;
    properties: Record<string, { required?: string[] }>;
  };
  expect(role.required).toEqual(['version', 'role']);
  expect(role.additionalProperties).toBe(false);
  expect(role.properties['budget']?.required).toBeUndefined();
  expect(SCHEMA_KINDS.map((kind) => jsonSchemaOf(kind)['title'])).toEqual([
    'orchestrator global file',
    'orchestrator role file',
    'orchestrator agent file',
    'orchestrator profile file',
  ]);
});
