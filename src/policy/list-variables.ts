export type ListVariables = Readonly<Record<string, readonly string[]>>;

/** The patterns that one written glob stands for, or the name of a variable that nobody defined. */
export type Expansion =
  | { readonly ok: true; readonly globs: readonly string[] }
  | { readonly ok: false; readonly unknown: string };

/**
 * `${code}/**` becomes one pattern per value of `code`, before anything is compiled: a matcher takes `{one}` as literal
 * braces. A value of `.` or nothing drops its segment, an empty list drops the pattern.
 */
export function expandListVariables(glob: string, variables: ListVariables): Expansion {
  const name = /\$\{([a-z][a-z0-9_]*)\}/.exec(glob)?.[1];
  if (name === undefined) return { ok: true, globs: [glob] };
  const values = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (values === undefined) return { ok: false, unknown: name };
  const globs: string[] = [];
  for (const value of values) {
    const rest = expandListVariables(substitute(glob, name, value), variables);
    if (!rest.ok) return rest;
    globs.push(...rest.globs);
  }
  return { ok: true, globs };
}

/** `notmods` (every root file that is not the product) follows from `mods` unless it is given. */
export function withDerivedVariables(variables: ListVariables): ListVariables {
  if (variables['notmods'] !== undefined) return variables;
  const modules = variables['mods'] ?? [];
  return { ...variables, notmods: [modules.length === 0 ? '*' : `!(${modules.join('|')})`] };
}

/** Path text as a glob that matches it: braces and stars as a class of one, what a class can't hold as `?`. */
export function literalGlob(path: string): string {
  return path.replace(/[*{}]/g, '[$&]').replace(/^!|[\\$()]|\[(?![*{}]\])|(?<!\[[*{}])\]/g, '?');
}

function substitute(glob: string, name: string, value: string): string {
  const reference = `\${${name}}`;
  if (value !== '.' && value !== '') return glob.replaceAll(reference, value);
  const kept = glob.split('/').filter((segment) => segment !== reference);
  return kept.join('/').replaceAll(reference, '');
}
