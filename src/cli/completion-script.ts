import type { Verb, VerbGroup } from './program/verb.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** A completion script for every command and option there is. */
export function completionScript(shell: Shell, groups: readonly VerbGroup[]): string {
  const commands = groups.flatMap((group) => group.verbs).flatMap((verb) => flatten(verb, []));
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
    case 'fish':
      return fishScript(commands);
  }
}

interface CommandWords {
  /** `policy explain` is ['policy', 'explain']. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly { readonly words: readonly string[]; readonly summary: string }[];
  readonly children: readonly string[];
}

const COMMON = ['--json', '-C', '-q', '--quiet', '--no-color', '--help'];

function flatten(verb: Verb, above: readonly string[]): readonly CommandWords[] {
  const path = [...above, nameOf(verb)];
  const options = (verb.options ?? []).map(([flags, summary]) => ({
    words: flags.split(/[ ,]+/).filter((word) => word.startsWith('-')),
    summary,
  }));
  const children = (verb.verbs ?? []).map(nameOf);
  return [
    { path, summary: verb.summary, options, children },
    ...(verb.verbs ?? []).flatMap((child) => flatten(child, path)),
  ];
}

function nameOf(verb: Verb): string {
  return verb.usage.split(' ', 1)[0] ?? verb.usage;
}

function bashScript(commands: readonly CommandWords[]): string {
  const top = commands.filter((command) => command.path.length === 1).map((command) => command.path[0]);
  const cases = commands.map((command) => {
    const words = [...command.children, ...command.options.flatMap((option) => option.words), ...COMMON];
    return `    '${command.path.join(' ')}') words='${words.join(' ')}' ;;`;
  });
  const parents = commands.filter((command) => command.children.length > 0).map((command) => command.path.join(' '));
  return `_orchestrator() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command='' word words index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$word" in -*) continue ;; esac
    if [ -z "$command" ]; then command="$word"
    else case "$command" in ${parents.map((name) => `'${name}'`).join('|')}) command="$command $word" ;; esac
    fi
  done
  case "$command" in
    '') words='${[...top, ...COMMON].join(' ')}' ;;
${cases.join('\n')}
    *) words='${COMMON.join(' ')}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _orchestrator orchestrator
`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap((command) => {
    const above = command.path.slice(0, -1);
    const isHere = above.length === 0 ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${above.join(' ')}`;
    const name = command.path.at(-1) ?? '';
    return [
      `complete -c orchestrator -f -n '${isHere}' -a ${name} -d ${quote(command.summary)}`,
      ...command.options.map(
        (option) =>
          `complete -c orchestrator -n '__fish_seen_subcommand_from ${name}' ${option.words.map(fishOption).join(' ')} -d ${quote(option.summary)}`,
      ),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function fishOption(word: string): string {
  return word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
