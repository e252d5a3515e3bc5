import { globProblem } from './glob-check.ts';
import type { Layered } from './layers.ts';
import { expandListVariables, type ListVariables } from './list-variables.ts';
import type { Problem, Rule } from './policy.ts';
import { didYouMean } from './suggest.ts';
import type { YamlPath } from './yaml-source.ts';

/** Written globs as rules: list variables expanded, every pattern checked, each with its file and line. */
export function readRules(
  globs: readonly string[],
  path: YamlPath,
  layered: Layered,
  variables: ListVariables,
): { readonly rules: readonly Rule[]; readonly problems: readonly Problem[] } {
  const rules: Rule[] = [];
  const problems: Problem[] = [];
  globs.forEach((written, index) => {
    const at = [...path, index];
    const report = (message: string, suggestion?: string): void => {
      problems.push({ severity: 'error', ...layered.placeOf(at), message, ...(suggestion ? { suggestion } : {}) });
    };
    const expansion = expandListVariables(written, variables);
    if (!expansion.ok) {
      const known = Object.keys(variables);
      report(
        `glob "${written}" names \`\${${expansion.unknown}}\`, which is not under \`vars:\` of policies/global.yaml`,
        didYouMean(expansion.unknown, known) ?? `known: ${known.join(', ')}`,
      );
      return;
    }
    for (const glob of expansion.globs) {
      const problem = globProblem(glob);
      if (problem === undefined) rules.push({ glob, origin: layered.originOf(at) });
      else report(glob === written ? `glob "${glob}" ${problem}` : `glob "${written}" (here "${glob}") ${problem}`);
    }
  });
  return { rules, problems };
}
