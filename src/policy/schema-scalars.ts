import { z } from 'zod';
import { parseDuration, parsePercent, parseTokenLimit } from './quantity.ts';

export const tokenLimit = quantity(
  parseTokenLimit,
  'expected tokens such as 200k, 2e5, 0 (no call allowed) or unlimited',
).meta({
  description: 'Work tokens: 200k, 2M, 2e5, 0 (no call allowed) or the word unlimited.',
});
/** Milliseconds once parsed. */
export const duration = quantity(parseDuration, 'expected a time such as 180s, 45m or 4h').meta({
  description: 'A time with its unit: 500ms, 180s, 45m, 4h, 2d.',
});
/** A share of one once parsed. */
export const percent = quantity(parsePercent, 'expected a percentage such as 80%').meta({
  description: 'A percentage above 0% and up to 100%.',
});

export const count = z.int({ error: 'expected a whole number' }).min(1, { error: 'must be at least 1' }).max(1_000_000);
export const text = z.string({ error: 'expected text' });
export const line = text.min(1, { error: 'must not be empty' });
export const glob = text.meta({
  description: `A glob over repository paths, case-sensitive for write; \${lower} is a list variable of global.yaml.`,
});
export const globs = z.array(glob, { error: 'expected a list of globs' });
export const commandLine = line.nullable();

const ROLE_NAME = /^[a-z][a-z0-9-]{0,31}$/u;
export const roleName = text.regex(ROLE_NAME, { error: 'expected a role name: small letters, digits and `-`' });

/** Never quotes what was written: it may be a key. */
export const keyReference = text
  .regex(/^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/u, {
    error: 'must be env:NAME or file:PATH: a literal key in a policy is refused, put it into .env',
  })
  .meta({ description: 'Where the key is: env:NAME (.env) or file:PATH (mode 0600). A literal key is refused.' });

function quantity<Value>(parse: (written: string | number) => Value | undefined, expected: string) {
  return z.union([z.string(), z.number()], { error: expected }).transform((written, context): Value => {
    const value = parse(written);
    if (value !== undefined) return value;
    context.issues.push({ code: 'custom', message: `${expected}, found ${JSON.stringify(written)}`, input: written });
    return z.NEVER;
  });
}
