import type { CommonOptions } from './build.ts';
import type { Verb, VerbGroup } from './verb.ts';

/** A verb without arguments of its own; undefined for the command line without a verb. */
export interface PlainCall {
  readonly verb: Verb | undefined;
  readonly common: CommonOptions;
}

/**
 * Reads the command lines that need no parser: at most one verb, without arguments, and switches that every command
 * takes. Undefined for all others. Loading the parser costs as much as starting node, and most commands are these.
 */
export function readPlainCall(argv: readonly string[], groups: readonly VerbGroup[]): PlainCall | undefined {
  const words = argv.filter((word) => !SWITCHES.has(word));
  const [name, ...rest] = words;
  if (rest.length > 0) return undefined;
  const verb = name === undefined ? undefined : groups.flatMap((group) => group.verbs).find(isPlain(name));
  if (name !== undefined && verb === undefined) return undefined;
  const common = {
    json: argv.includes('--json'),
    directory: undefined,
    quiet: argv.includes('-q') || argv.includes('--quiet'),
    color: !argv.includes('--no-color'),
    version: false,
  };
  return { verb, common };
}

const SWITCHES: ReadonlySet<string> = new Set(['--json', '-q', '--quiet', '--no-color']);

/** An option `--no-…` would be on without being given. */
function isPlain(name: string): (verb: Verb) => boolean {
  return (verb) =>
    verb.usage === name && verb.act !== undefined && !(verb.options ?? []).some(([flags]) => flags.startsWith('--no-'));
}
