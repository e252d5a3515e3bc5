import { z } from 'zod';
import type { Layered } from './layers.ts';
import type { Problem } from './policy.ts';
import { didYouMean } from './suggest.ts';
import type { YamlPath } from './yaml-source.ts';

/** Parses a layered file; every issue becomes a problem at the place of its value. */
export function parseLayered<Schema extends z.ZodType>(
  schema: Schema,
  layered: Layered,
): { readonly file: z.output<Schema> | undefined; readonly problems: readonly Problem[] } {
  const result = z.safeParse(schema, layered.value);
  if (result.success) return { file: result.data, problems: [] };
  return { file: undefined, problems: result.error.issues.flatMap((issue) => describe(issue, schema, layered)) };
}

function describe(issue: z.core.$ZodIssue, schema: z.ZodType, layered: Layered): readonly Problem[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => ({
      severity: 'error',
      ...layered.placeOfKey([...path, key]),
      message: `unknown field \`${[...path, key].join('.')}\``,
      ...suggestion(didYouMean(key, known) ?? `known here: ${known.join(', ')}`),
    }));
  }
  const written = valueAt(layered.value, path);
  const hint =
    issue.code === 'invalid_value' && typeof written === 'string'
      ? didYouMean(written, issue.values.map(String))
      : undefined;
  const message = `\`${nameOf(path)}\` ${phrase(issue, written)}`;
  return [{ severity: 'error', ...layered.placeOf(path), message, ...suggestion(hint) }];
}

function phrase(issue: z.core.$ZodIssue, written: unknown): string {
  if (written === undefined && issue.code === 'invalid_type') return 'is missing';
  if (issue.code === 'invalid_value') return `must be one of: ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'too_small' && issue.origin === 'number') {
    return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
  }
  if (issue.code === 'invalid_type' && issue.expected === 'object') return 'must be a map of `name: value` lines';
  return issue.message.startsWith('Invalid input') ? `has the wrong form: ${issue.message.slice(15)}` : issue.message;
}

function nameOf(path: YamlPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part + 1}]` : `.${part}`))
    .join('')
    .replace(/^\./u, '');
}

function knownKeys(schema: z.ZodType, path: YamlPath): readonly string[] {
  let current: unknown = schema;
  for (const part of path) {
    current = unwrap(current);
    current = current instanceof z.ZodObject ? current.shape[String(part)] : undefined;
  }
  current = unwrap(current);
  return current instanceof z.ZodObject ? Object.keys(current.shape) : [];
}

function unwrap(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? unwrap(schema.unwrap()) : schema;
}

function valueAt(value: unknown, path: YamlPath): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[String(part)];
  }
  return current;
}

function suggestion(text: string | undefined): { readonly suggestion?: string } {
  return text === undefined ? {} : { suggestion: text };
}
