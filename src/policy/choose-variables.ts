import type { EnvFile } from './env-file.ts';

/** What policies and keys are read from: `.env` wins, the fallback (the process environment) fills what it lacks. */
export interface ChosenVariables {
  readonly values: ReadonlyMap<string, string>;
  /** Names whose value is the fallback's. */
  readonly fromFallback: readonly string[];
}

/** A variable without a value in `.env` counts as absent. */
export function chooseVariables(file: EnvFile, fallback: ReadonlyMap<string, string>): ChosenVariables {
  const filled = new Map([...file.variables].filter(([, value]) => value !== ''));
  return {
    values: new Map([...fallback, ...filled]),
    fromFallback: [...fallback.keys()].filter((name) => !filled.has(name)),
  };
}
