import { Command, Help } from 'commander';
import type { Given, Verb, VerbGroup } from './verb.ts';

/** The options that every command takes. */
export interface CommonOptions {
  readonly json: boolean;
  readonly directory: string | undefined;
  readonly quiet: boolean;
  readonly color: boolean;
  readonly version: boolean;
}

export interface ProgramOptions {
  readonly groups: readonly VerbGroup[];
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly columns: number;
  /** Called with the verb that was chosen. */
  readonly choose: (verb: Verb, given: Given) => Promise<void>;
}

/** The commander program for these verbs. It never exits: usage errors, help and version are thrown as CommanderError. */
export function buildProgram(options: ProgramOptions): Command {
  const program = new Command('orchestrator')
    .description('Several coding agents in one git repository: bounded, metered, nothing merged unseen.')
    .usage('[command] [options]')
    .option('--json', 'result as JSON on stdout; errors stay text on stderr')
    .option('-C <directory>', 'act in this directory')
    .option('-q, --quiet', 'results only')
    .option('--no-color', 'no colours (NO_COLOR is honoured too)')
    .option('-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      helpWidth: Math.min(options.columns, 120),
      // The first thing that help says is what a day needs; the options of the root come after the commands.
      formatHelp(command, helper) {
        const shown: Help =
          command.parent === null ? Object.assign(Object.create(helper), { visibleOptions: () => [] }) : helper;
        return Help.prototype.formatHelp.call(shown, command, shown);
      },
    })
    .configureOutput({
      writeOut: options.stdout,
      writeErr: options.stderr,
      outputError: (text, write) => write(text.replace(/^error: /, 'orchestrator: ')),
    });
  for (const group of options.groups) {
    program.commandsGroup(group.heading);
    for (const verb of group.verbs) addVerb(program, verb, options);
  }
  return program.helpCommand('help [command]', 'show help for a command').addHelpText('after', ROOT_HELP);
}

/** The common options as given anywhere on the command line. */
export function commonOptions(program: Command): CommonOptions {
  const given = program.opts();
  return {
    json: given['json'] === true,
    directory: typeof given['C'] === 'string' ? given['C'] : undefined,
    quiet: given['quiet'] === true,
    color: given['color'] !== false,
    version: given['version'] === true,
  };
}

const ROOT_HELP = `
With every command:
  --json             result as JSON on stdout; errors stay text on stderr
  -C <directory>     act in this directory
  -q, --quiet        results only
  --no-color         no colours (NO_COLOR is honoured too)
  -h, --help         help with an example
  -V, --version      show the version

Without a command: what happened since you looked last, what waits for you, and the next command.

Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 waiting for a human, 4 budget exhausted,
5 refused by a boundary or the gate, 6 daemon not running, 130 interrupted.`;

function addVerb(parent: Command, verb: Verb, options: ProgramOptions): void {
  const command = parent.command(verb.usage).description(verb.summary);
  for (const [flags, description] of verb.options ?? []) command.option(flags, description);
  command.addHelpText('after', `\nExample:\n  $ ${verb.example[0]}\n    ${verb.example[1]}`);
  for (const child of verb.verbs ?? []) addVerb(command, child, options);
  if (verb.act !== undefined) {
    command.action(() => options.choose(verb, { args: command.args, options: command.opts(), groups: options.groups }));
  }
}
