import { readFileSync } from 'node:fs';
import { type Document, isSeq, parseDocument, type YAMLSeq } from 'yaml';
import { z } from 'zod';
import { OrchestratorError } from '../domain/errors.ts';
import { globs, line, roleName, text } from './schema-scalars.ts';
import { didYouMean } from './suggest.ts';

export const PROFILE_NAMES = [
  'cpython',
  'python-src',
  'python-flat',
  'python-lib',
  'python-module',
  'python-mono',
  'generic',
] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

const lists = z.strictObject({
  write: globs.optional(),
  deny: globs.optional(),
  not_deny: globs.optional(),
  ask: globs.optional(),
  not_write: globs.optional(),
  create_only: globs.optional(),
  create_only_else: z.enum(['ask', 'deny']).optional(),
});

/** `policies/<profile>/profile.yaml`, and the body that several share. Lists of a profile are added to the body's. */
export const profileSchema = z.strictObject({
  version: z.literal(2).optional(),
  profile: line.optional(),
  description: line.optional(),
  body: line.optional(),
  vars: z.record(z.string(), z.array(text)).optional(),
  never: globs.optional(),
  generated: z
    .strictObject({
      from_gitattributes: z.boolean(),
      globs,
      sources: z.array(z.strictObject({ output: line, command: line })).optional(),
    })
    .optional(),
  roles: z.record(roleName, lists).optional(),
});

/** A shipped profile with its body merged in. */
export interface ProfileFile {
  readonly name: ProfileName;
  readonly content: z.output<typeof profileSchema>;
  /** A list with its comments, for the files that `init` writes. */
  sequence(path: readonly string[]): YAMLSeq | undefined;
}

/** Takes `python-src` and, as the tables of measurements do, `src`. */
export function profileNamed(written: string): ProfileName {
  const found = PROFILE_NAMES.find((name) => name === written || name === `python-${written}`);
  if (found !== undefined) return found;
  const hint = didYouMean(written, PROFILE_NAMES) ?? `profiles: ${PROFILE_NAMES.join(', ')}`;
  throw new OrchestratorError('usage', `there is no profile ${written}; ${hint}`);
}

export function readProfile(name: ProfileName): ProfileFile {
  const own = parse(new URL(`${name}/profile.yaml`, SHIPPED));
  const body = own.get('body');
  const merged = typeof body === 'string' ? parse(new URL(body, new URL(`${name}/`, SHIPPED))) : own;
  if (merged !== own) addTo(merged, own);
  return {
    name,
    content: profileSchema.parse(merged.toJS()),
    sequence(path) {
      const node = merged.getIn(path, true);
      return isSeq(node) ? node : undefined;
    },
  };
}

/** The package's own `policies/`, beside `src/` and beside `dist/`. */
const SHIPPED = new URL('../../policies/', import.meta.url);

function parse(url: URL): Document {
  return parseDocument(readFileSync(url, 'utf8'));
}

function addTo(body: Document, own: Document): void {
  const content = profileSchema.parse(own.toJS());
  body.set('vars', own.get('vars', true));
  body.set('profile', content.profile);
  body.set('description', content.description);
  for (const [role, added] of Object.entries(content.roles ?? {})) {
    for (const list of Object.keys(added)) {
      const target = body.getIn(['roles', role, list], true);
      const source = own.getIn(['roles', role, list], true);
      if (isSeq(target) && isSeq(source)) target.items.push(...source.items);
      else body.setIn(['roles', role, list], source);
    }
  }
}
