import { OrchestratorError } from '../domain/errors.ts';
import type { RoleName } from '../domain/ids.ts';
import type { Boundary, DecidingPolicy } from './decide.ts';
import { globProblem } from './glob-check.ts';
import { expandListVariables, type ListVariables, withDerivedVariables } from './list-variables.ts';
import type { Rule } from './policy.ts';
import { type ProfileName, readProfile } from './profile-file.ts';

export interface ShippedProfile extends DecidingPolicy {
  readonly name: ProfileName;
  readonly vars: ListVariables;
}

/** A shipped profile, ready for `compileDecider`; `vars` are merged over its own. Throws `usage` on a bad variable. */
export function shippedProfile(name: ProfileName, vars: ListVariables = {}): ShippedProfile {
  const { content } = readProfile(name);
  const merged = mergeVariables(content.vars ?? {}, vars);
  const rules = (globs: readonly string[] = []): readonly Rule[] => rulesOf(globs, name, merged);
  const boundaries = Object.entries(content.roles ?? {}).map(([role, lists]): [RoleName, Boundary] => [
    role as RoleName,
    {
      write: rules(lists.write),
      deny: rules(lists.deny),
      ask: rules(lists.ask),
      createOnly: rules(lists.create_only),
      createOnlyElse: lists.create_only_else ?? 'deny',
      notDeny: rules(lists.not_deny),
      notWrite: rules(lists.not_write),
    },
  ]);
  return {
    name,
    vars: merged,
    global: { never: rules(content.never), generated: { globs: rules(content.generated?.globs) } },
    roles: new Map(boundaries),
  };
}

/** Code roots that an ask glob of the profile covers whatever is detected: the coder could never write there. */
export function coveredCodeRoots(name: ProfileName, vars: ListVariables): readonly string[] {
  const asks = readProfile(name).content.roles?.['coder']?.ask ?? [];
  const fixed = asks.filter((glob) => !glob.includes('${') && !glob.startsWith('!') && glob.endsWith('/**'));
  const covering = new Set(fixed.flatMap((glob) => topDirectories(glob)));
  return (vars['code'] ?? []).filter((root) => covering.has(root.split('/')[0] ?? ''));
}

function mergeVariables(own: ListVariables, given: ListVariables): ListVariables {
  // The profile's own notmods follows its own mods, so other mods need another one.
  return withDerivedVariables({ ...own, ...given });
}

function rulesOf(globs: readonly string[], name: ProfileName, vars: ListVariables): readonly Rule[] {
  return globs.flatMap((written) => {
    const expansion = expandListVariables(written, vars);
    if (!expansion.ok)
      throw new OrchestratorError('usage', `profile ${name} needs the variable \`${expansion.unknown}\``);
    return expansion.globs.map((glob) => {
      const problem = globProblem(glob);
      if (problem === undefined) return { glob, origin: `profile ${name}` };
      throw new OrchestratorError(
        'usage',
        `profile ${name}: "${written}" becomes "${glob}", which ${problem}; change the variable`,
      );
    });
  });
}

/** `{docs,doc}/**` → docs, doc. */
function topDirectories(glob: string): readonly string[] {
  const [top = ''] = glob.split('/');
  const braces = /^(\.?)\{([^{}]*)\}$/u.exec(top);
  if (braces === null) return /[*?[\]{}()]/u.test(top) ? [] : [top];
  return (braces[2] ?? '').split(',').map((part) => `${braces[1] ?? ''}${part}`);
}
