import { createHash } from 'node:crypto';

/** sha256 hex over canonical JSON: keys sorted, undefined left out, Maps as objects. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

function canonicalJson(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  const kept = entries.filter(([, item]) => item !== undefined).map(([key, item]) => [String(key), item] as const);
  kept.sort(([first], [second]) => (first < second ? -1 : first > second ? 1 : 0));
  return `{${kept.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
}
