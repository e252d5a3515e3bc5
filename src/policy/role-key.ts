import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../domain/errors.ts';
import type { RolePolicy } from './policy.ts';

/** The real key of a role, or why there is none (one clause that can follow `role X: `). */
export function readRoleKey(
  policy: Pick<RolePolicy, 'key'>,
  variables: ReadonlyMap<string, string>,
): { readonly key: string } | { readonly problem: string } {
  switch (policy.key.kind) {
    case 'env': {
      const value = variables.get(policy.key.name);
      if (value !== undefined && value !== '') return { key: value };
      return { problem: `${policy.key.name} has no value; put it into the .env that \`orchestrator path env\` names` };
    }
    case 'file':
      return keyFromFile(policy.key.path);
  }
}

function keyFromFile(file: string): { readonly key: string } | { readonly problem: string } {
  try {
    if ((statSync(file).mode & 0o077) !== 0) {
      return { problem: `the key file ${file} is readable by others; chmod 600 it` };
    }
    const key = readFileSync(file, 'utf8').trim();
    if (key === '' || /\p{Cc}/u.test(key)) return { problem: `the key file ${file} holds no single-line key` };
    return { key };
  } catch (error) {
    return { problem: `the key file ${file} cannot be read: ${messageOf(error)}` };
  }
}
