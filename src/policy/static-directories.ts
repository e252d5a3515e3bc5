import type { RolePolicy } from './policy.ts';

/**
 * Directories that a role is denied as a whole: deny globs of the form `dir/**` whose `dir` holds no wildcard. One with
 * an exception (`not_deny`) inside or around it is left out, since a read-only bind can't have a hole.
 */
export function staticDenyDirectories(boundary: Pick<RolePolicy, 'deny' | 'notDeny'> | undefined): readonly string[] {
  if (boundary === undefined) return [];
  const directories = boundary.deny.flatMap((rule) => expandStatic(rule.glob));
  const exceptions = boundary.notDeny.map((rule) => rule.glob);
  return [...new Set(directories)].filter((directory) => !exceptions.some((glob) => mayMeet(glob, directory)));
}

function expandStatic(glob: string): readonly string[] {
  const prefix = /^(.+)\/\*\*$/u.exec(glob)?.[1];
  return prefix === undefined || /[*?[\]{}()!]/u.test(prefix) ? [] : [prefix];
}

/** Whether a glob could match something at or below a directory; judged by its literal start, erring towards yes. */
function mayMeet(glob: string, directory: string): boolean {
  const literal = glob.slice(0, glob.search(/[*?[{(!@]|$/u));
  const inside = `${directory}/`;
  return literal.startsWith(inside) || inside.startsWith(literal) || literal === directory;
}
