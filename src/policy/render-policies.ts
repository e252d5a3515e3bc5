import { stringify } from 'yaml';
import { jsonSchemaOf } from './json-schema.ts';
import type { PolicyChoice } from './policy-choice.ts';
import { type ProfileFile, readProfile } from './profile-file.ts';
import { renderList } from './render-list.ts';
import { renderRole } from './render-role.ts';

/** The files of `policies/` that `init` writes, by their path in the repository. Loading them decides as the profile. */
export function renderPolicies(choice: PolicyChoice): ReadonlyMap<string, string> {
  const profile = readProfile(choice.profile);
  const files = new Map([['policies/global.yaml', renderGlobal(choice, profile)]]);
  for (const role of choice.roles) files.set(`policies/roles/${role}.yaml`, renderRole(role, profile, choice));
  // Beside the files that name them, so that editors find them whatever happens to the package.
  for (const kind of ['global', 'role', 'agent'] as const) {
    files.set(`policies/schema/${kind}.schema.json`, `${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`);
  }
  return files;
}

function renderGlobal(choice: PolicyChoice, profile: ProfileFile): string {
  const value = (data: unknown): string => stringify(data, { lineWidth: 0, collectionStyle: 'flow' }).trim();
  const vars = Object.entries({ ...profile.content.vars, ...choice.vars }).filter(([name]) => name !== 'notmods');
  const command = (line: string | undefined): string => (line === undefined ? 'null' : value(line));
  return [
    '# yaml-language-server: $schema=./schema/global.schema.json',
    `# What holds for every role. Profile ${choice.profile}: ${profile.content.description}.`,
    '# `orchestrator policy check` checks these files, `policy show <role>` prints what counts and where it comes from,',
    '# `policy explain <path>` says who may write a path and why, `policy reload` makes a running daemon read them again.',
    'version: 2',
    `profile: ${choice.profile}`,
    '',
    `# Where things are in this repository, found when these files were made. \`\${code}/**\` in a list stands for one glob`,
    '# per value. Correct what is wrong; a directory named in `other` is a question for the coder.',
    'vars:',
    ...vars.map(([name, list]) => `  ${name}: ${value(list)}`),
    `  inventory: ${value(choice.inventoryHash)}`,
    '',
    '# Agents reach the model only through the daemon. The root is enough: API paths are added per request.',
    'gateway:',
    `  base_url: "\${ORCH_BASE_URL}"      # from .env: \`orchestrator path env\` says where that is`,
    '  path_style: auto                  # auto | raw',
    '  retry: { max_attempts: 3, backoff: 1.8, jitter: full, respect_retry_after: true }',
    '  request_timeout: 180s',
    '  max_in_flight_per_key: 4',
    `allow_shared_key: ${choice.allowSharedKey}            # true: several roles use one key, reports rest on local counters`,
    '',
    '# Each step works in a private tree. `setup` commands run once per tree and base commit.',
    'workspace: { isolation: private, slots: 4, setup: [], copy: [] }',
    'sandbox: { mode: auto, read_only: [] }   # auto | kernel | detect-only; further read-only paths for toolchains',
    '',
    '# Order of the roles within a task; the merge checkpoint follows.',
    `pipeline: ${value(choice.roles)}`,
    '# Tokens: 200k, 2M, 2e5, 0 (no call) or unlimited. At a limit the work stops and asks.',
    'limits: { run_tokens: 600k, day_tokens: 2M, run_wall_clock: 4h, commits: 20, net_lines: 2000, review_rounds: 2 }',
    'checkpoints: { plan: ask, merge: ask }   # plan: ask | auto (in-lane, in-budget plans need no answer)',
    '',
    '# Offered to nobody, asked for by nobody: control plane and secrets.',
    renderList('never', profile.sequence(['never'])),
    '# Written only by a generator that the daemon runs. Attributes are read from the base tree.',
    'generated:',
    `  from_gitattributes: ${profile.content.generated?.from_gitattributes ?? true}`,
    indent(renderList('globs', profile.sequence(['generated', 'globs']))),
    indent(renderList('sources', profile.sequence(['generated', 'sources']))),
    '# Checked on the merged result. `environment` comes first: the code under test must be that of the workspace.',
    'verify:',
    `  environment: ${command(choice.verify.environment)}`,
    `  quick: ${command(choice.verify.quick)}`,
    `  full: ${command(choice.verify.full)}`,
    '',
  ]
    .join('\n')
    .replace(/\n{3,}/gu, '\n\n');
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gmu, '  ').trimEnd();
}
