import { z } from 'zod';
import {
  commandLine,
  count,
  duration,
  globs,
  keyReference,
  line,
  percent,
  roleName,
  text,
  tokenLimit,
} from './schema-scalars.ts';

const version = z.literal(2, { error: 'must be 2, the version of the policy format' });
const on = z.boolean({ error: 'expected true or false' });
const runner = z.enum(['builtin', 'claude-code', 'codex', 'acp', 'command']);
const toolGroup = z.enum(['read', 'search', 'edit', 'write', 'note', 'run']);

const model = z.strictObject({
  protocol: z.enum(['anthropic', 'openai-chat', 'openai-responses']),
  id: line.optional(),
  temperature: z.number({ error: 'expected a number' }).min(0).max(2).nullable(),
  max_output_tokens: count,
});
const budget = z.strictObject({
  task: tokenLimit,
  run: tokenLimit,
  day: tokenLimit,
  warn_at: percent,
  cache_read_weight: z.number({ error: 'expected a number' }).min(0).max(1),
  usd_task: z.number({ error: 'expected a number or null' }).positive().nullable(),
});
const roleLimits = z.strictObject({
  turns: count,
  wall_clock: duration,
  no_progress_rounds: count,
  identical_calls: count,
  changed_lines: count,
  changed_files: count,
});

/** `policies/roles/<role>.yaml` with the defaults filled in. */
export const roleSchema = z.strictObject({
  version,
  role: roleName,
  aliases: z.array(roleName),
  runner,
  key: keyReference,
  model,
  write: globs,
  deny: globs,
  not_deny: globs,
  ask: globs,
  not_write: globs,
  create_only: globs,
  create_only_else: z.enum(['ask', 'deny']),
  tools: z.array(toolGroup),
  run: z.strictObject({ allow: z.array(line), network: z.enum(['none', 'host']), timeout: duration }),
  write_mode: z.enum(['off', 'dry-run', 'staged', 'direct']),
  budget,
  limits: roleLimits,
});

/** `policies/agents/<agent>.yaml`: one agent's behaviour; no key, no boundary. */
export const agentSchema = z.strictObject({
  version,
  role: roleName,
  model: model.partial().optional(),
  tools: z.array(toolGroup).optional(),
  run: z.strictObject({ timeout: duration.optional() }).optional(),
  budget: budget.partial().optional(),
  limits: roleLimits.partial().optional(),
});

const source = z.strictObject({ output: line, command: line });

/** `policies/global.yaml` with the defaults filled in. */
export const globalSchema = z.strictObject({
  version,
  profile: line,
  vars: z.object({ inventory: text.optional() }).catchall(z.array(text, { error: 'expected a list of paths' })),
  gateway: z.strictObject({
    base_url: line.optional(),
    path_style: z.enum(['auto', 'raw']),
    retry: z.strictObject({
      max_attempts: count.max(20),
      backoff: z.number({ error: 'expected a number' }).min(1).max(10),
      jitter: z.enum(['full', 'none']),
      respect_retry_after: on,
    }),
    request_timeout: duration,
    max_in_flight_per_key: count,
  }),
  workspace: z.strictObject({
    isolation: z.enum(['private', 'shared']),
    slots: count.max(256),
    setup: z.array(line),
    copy: z.array(line),
  }),
  sandbox: z.strictObject({ mode: z.enum(['auto', 'kernel', 'detect-only']), read_only: z.array(line) }),
  pipeline: z.array(roleName).min(1, { error: 'must name at least one role' }),
  limits: z.strictObject({
    run_tokens: tokenLimit,
    day_tokens: tokenLimit,
    run_wall_clock: duration,
    commits: count,
    net_lines: count,
    review_rounds: z.int({ error: 'expected a whole number' }).min(0).max(100),
  }),
  checkpoints: z.strictObject({ plan: z.enum(['ask', 'auto']), merge: z.enum(['ask', 'auto']) }),
  never: globs,
  generated: z.strictObject({ from_gitattributes: on, globs, sources: z.array(source) }),
  verify: z.strictObject({ environment: commandLine, quick: commandLine, full: commandLine }),
  allow_shared_key: on,
  approval: z.strictObject({ passphrase: z.enum(['required', 'off']) }),
});

export type RoleFile = z.output<typeof roleSchema>;
export type GlobalFile = z.output<typeof globalSchema>;
