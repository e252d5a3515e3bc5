import type { Io } from '../io.ts';

/** One command, as data: the program, its help and the shell completion are made from these. */
export interface Verb {
  /** Name and arguments, `run <request>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options?: readonly VerbOption[];
  /** One call that teaches, and what it does. */
  readonly example: readonly [call: string, effect: string];
  /** Loads the verb's module and runs it; the result is the exit code. */
  readonly act?: (io: Io, given: Given) => Promise<number>;
  /** Commands below this one; it then has no `act` of its own. */
  readonly verbs?: readonly Verb[];
}

export type VerbOption = readonly [flags: string, description: string];

/** What was given on the command line, before the verb has checked it. */
export interface Given {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** Every command there is, for the one that prints completions. */
  readonly groups: readonly VerbGroup[];
}

export interface VerbGroup {
  readonly heading: string;
  readonly verbs: readonly Verb[];
}

/** The text of an option, undefined when it was not given. */
export function textOption(given: Given, name: string): string | undefined {
  const value = given.options[name];
  return typeof value === 'string' ? value : undefined;
}

export function isGiven(given: Given, name: string): boolean {
  return given.options[name] === true;
}

/** An object that holds `name` only when there is a value, for parameters that tell absent from undefined. */
export function defined<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}
