import { OrchestratorError } from '../domain/errors.ts';

/** The full ref of a branch that a person named; git's rules for ref names, without asking git (`@{-1}` is none). */
export function branchRef(name: string): string {
  if (isBranchName(name)) return `refs/heads/${name}`;
  throw new OrchestratorError(
    'usage',
    `${JSON.stringify(name)} is not a branch name; use letters, digits, / - _ and .`,
  );
}

function isBranchName(name: string): boolean {
  if (name === '' || name === '@' || name === 'HEAD' || name.startsWith('-') || name.endsWith('.')) return false;
  if (FORBIDDEN.test(name) || name.includes('..') || name.includes('@{')) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/** Control characters, space and what git's revision syntax uses. */
const FORBIDDEN = /[\x00-\x20\x7f~^:?*[\\]/;
