import { compileGlobs } from './glob.ts';
import { expandListVariables, type ListVariables } from './list-variables.ts';

/** `generated.sources`: which command makes the files that a glob covers. */
export interface Generator {
  readonly output: string;
  readonly command: string;
}

/** One generator a glob; those whose variables are unknown are left out, loading reports them. */
export function expandGenerators(written: readonly Generator[], variables: ListVariables): readonly Generator[] {
  return written.flatMap(({ output, command }) => {
    const expansion = expandListVariables(output, variables);
    return expansion.ok ? expansion.globs.map((glob) => ({ output: glob, command })) : [];
  });
}

/** The generator of a path; undefined when none is named. The globs must be checked ones. */
export function generatorOf(generators: readonly Generator[], path: string): Generator | undefined {
  const globs = generators.map((generator) => generator.output);
  const index = compileGlobs(globs, { foldCase: false }).firstMatch(path);
  return index === undefined ? undefined : generators[index];
}
