import { stringify } from 'yaml';
import { isCommandAllowed } from './command.ts';
import { roleDefaults } from './defaults.ts';
import type { PolicyChoice } from './policy-choice.ts';
import type { ProfileFile } from './profile-file.ts';
import { renderList } from './render-list.ts';

/** One role file, with every field that people change and a word on what it does. */
export function renderRole(role: string, profile: ProfileFile, choice: PolicyChoice): string {
  const suffix = role.toUpperCase().replaceAll('-', '_');
  const defaults = roleDefaults(role) as unknown as Written;
  const list = (name: string): string => renderList(name, profile.sequence(['roles', role, name]));
  const { budget, limits } = defaults;
  const orElse = profile.content.roles?.[role]?.create_only_else;
  const aliases = ALIASES[role];
  return [
    '# yaml-language-server: $schema=../schema/role.schema.json',
    `# ${PURPOSE[role] ?? `Role ${role}.`}`,
    'version: 2',
    `role: ${role}`,
    ...(aliases === undefined ? [] : [`aliases: ${flow(aliases)}`]),
    'runner: builtin                 # builtin | claude-code | codex | acp | command',
    `${`key: env:ORCH_KEY_${suffix}`.padEnd(32)}# env:NAME | file:PATH (mode 0600); the key itself never stands here`,
    'model:',
    `  protocol: "\${ORCH_PROTOCOL_${suffix}:-anthropic}"   # anthropic | openai-chat | openai-responses`,
    `  id: "\${ORCH_MODEL_${suffix}}"`,
    '  temperature: null             # null: not sent, some models refuse it',
    `  max_output_tokens: ${defaults.model.max_output_tokens}`,
    '',
    '# Boundary: never and generated (global.yaml), then deny, ask, write; the first hit decides, no hit is out of scope.',
    '# What counts is the effect, whatever wrote it.',
    list('deny'),
    list('not_deny'),
    list('ask'),
    list('write'),
    list('not_write'),
    list('create_only'),
    ...(orElse === undefined
      ? []
      : [`create_only_else: ${orElse}          # what changing an existing one is: ask | deny`]),
    '',
    `tools: ${flow(defaults.tools)}`,
    '# Commands it may start: `*` is text without white space, a trailing ` **` any arguments, `**` alone everything.',
    `run: { allow: ${flow(commandsFor(defaults, choice))}, network: none, timeout: 10m }`,
    'write_mode: staged              # off | dry-run | staged | direct',
    `budget: { task: ${budget.task}, run: ${budget.run}, day: ${budget.day}, warn_at: ${budget.warn_at}, cache_read_weight: 0.1, usd_task: null }`,
    `limits: { turns: ${limits.turns}, wall_clock: ${limits.wall_clock}, no_progress_rounds: 3, identical_calls: 5, changed_lines: 400, changed_files: 15 }`,
    '',
  ]
    .join('\n')
    .replace(/\n{3,}/gu, '\n\n');
}

/** The fields of `roleDefaults` that are shown. */
interface Written {
  readonly model: { readonly max_output_tokens: number };
  readonly tools: readonly string[];
  readonly budget: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string | number>>;
}

const PURPOSE: Readonly<Record<string, string>> = {
  planner: 'Reads the repository and turns a request into tasks. Writes nothing but its notes.',
  coder: "Changes the product. Tests are the test role's, so that nobody bends a test to make code pass.",
  reviewer: 'Reads the result and approves it or asks for changes. Writes nothing but its notes.',
  test: "Writes and runs tests. Product code is the coder's.",
};
const ALIASES: Readonly<Record<string, readonly string[]>> = { coder: ['worker', 'executor'], reviewer: ['critic'] };

const READING_COMMANDS = ['git status **', 'git diff **', 'git log **', 'git show **'];
const TEST_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  cpython: ['./python -m test **', './python -m unittest **', './python.exe -m test **', 'make -s **'],
  python: [
    'python -m pytest **',
    'python3 -m pytest **',
    'pytest **',
    'python -m unittest **',
    'python3 -m unittest **',
  ],
};

/** Tests and a look at git; the verify commands too, where they are single plain commands. */
function commandsFor(defaults: Written, choice: PolicyChoice): readonly string[] {
  if (!defaults.tools.includes('run')) return [];
  const usual = TEST_COMMANDS[choice.profile === 'cpython' ? 'cpython' : 'python'] ?? [];
  const verify = [choice.testCommand, choice.verify.quick, choice.verify.full]
    .filter((line) => line !== undefined)
    .filter((line) => !line.includes('*') && isCommandAllowed([line], line).allowed)
    .map((line) => `${line} **`);
  // What runs on the workspace's own code comes first: it is what a model tries.
  return [...verify, ...usual, ...READING_COMMANDS];
}

function flow(data: unknown): string {
  return stringify(data, { lineWidth: 0, collectionStyle: 'flow' }).trim();
}
