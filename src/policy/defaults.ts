/** Built-in values, in the form in which a policy file writes them; every field of the schema has one here. */
export function roleDefaults(role: string): Readonly<Record<string, unknown>> {
  const allowance = ALLOWANCES[role] ?? ALLOWANCES['test'];
  const suffix = role.toUpperCase().replaceAll('-', '_');
  return {
    aliases: [],
    runner: 'builtin',
    key: `env:ORCH_KEY_${suffix}`,
    model: {
      protocol: `\${ORCH_PROTOCOL_${suffix}:-anthropic}`,
      id: `\${ORCH_MODEL_${suffix}}`,
      temperature: null,
      max_output_tokens: allowance?.maxOutputTokens,
    },
    write: [],
    deny: [],
    not_deny: [],
    ask: [],
    not_write: [],
    create_only: [],
    create_only_else: 'deny',
    tools: WRITING_ROLES.has(role) ? ['read', 'search', 'edit', 'write', 'note', 'run'] : ['read', 'search', 'note'],
    run: { allow: [], network: 'none', timeout: '10m' },
    write_mode: 'staged',
    budget: {
      task: allowance?.task,
      run: 'unlimited',
      day: '1M',
      warn_at: '80%',
      cache_read_weight: 0.1,
      usd_task: null,
    },
    limits: {
      turns: allowance?.turns,
      wall_clock: allowance?.wallClock,
      no_progress_rounds: 3,
      identical_calls: 5,
      changed_lines: 400,
      changed_files: 15,
    },
  };
}

export const GLOBAL_DEFAULTS: Readonly<Record<string, unknown>> = {
  profile: 'generic',
  vars: {},
  never: [
    'policies/{global.yaml,roles/**,agents/**}',
    '.git/**',
    '**/.env',
    '**/.env.!(example|sample|template)',
    '**/{.netrc,.pypirc,.git-credentials}',
    '{.claude,.codex,.cursor,.gemini}/**',
    '.mcp.json',
  ],
  gateway: {
    base_url: `\${ORCH_BASE_URL}`,
    path_style: 'auto',
    retry: { max_attempts: 3, backoff: 1.8, jitter: 'full', respect_retry_after: true },
    request_timeout: '180s',
    max_in_flight_per_key: 4,
  },
  workspace: { isolation: 'private', slots: 4, setup: [], copy: [] },
  sandbox: { mode: 'auto', read_only: [] },
  pipeline: ['planner', 'coder', 'test', 'reviewer'],
  limits: {
    run_tokens: '600k',
    day_tokens: '2M',
    run_wall_clock: '4h',
    commits: 20,
    net_lines: 2000,
    review_rounds: 2,
  },
  checkpoints: { plan: 'ask', merge: 'ask' },
  generated: { from_gitattributes: true, globs: [], sources: [] },
  verify: { environment: null, quick: null, full: null },
  allow_shared_key: false,
  approval: { passphrase: 'off' },
};

const WRITING_ROLES: ReadonlySet<string> = new Set(['coder', 'test']);

const ALLOWANCES: Readonly<
  Record<
    string,
    { readonly task: string; readonly turns: number; readonly wallClock: string; readonly maxOutputTokens: number }
  >
> = {
  planner: { task: '50k', turns: 8, wallClock: '15m', maxOutputTokens: 4096 },
  coder: { task: '200k', turns: 40, wallClock: '45m', maxOutputTokens: 8192 },
  reviewer: { task: '80k', turns: 12, wallClock: '20m', maxOutputTokens: 4096 },
  test: { task: '120k', turns: 30, wallClock: '40m', maxOutputTokens: 8192 },
};
