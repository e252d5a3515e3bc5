import type { Verb } from './verb.ts';

/** Policies, places, and getting to know it. */
export const SETUP_VERBS: readonly Verb[] = [
  {
    usage: 'policy',
    summary: 'check, show and explain the policies',
    example: ['orchestrator policy explain src/app.py', 'the answer for every role, and the rule behind it'],
    verbs: [
      {
        usage: 'check',
        summary: 'check the policy files against the repository; exit 2 on errors',
        example: ['orchestrator policy check', 'warnings and errors with file and line'],
        act: async (io) => (await import('../policy-verbs.ts')).policyCheck(io),
      },
      {
        usage: 'show <role>',
        summary: 'every effective value of a role with its origin',
        example: ['orchestrator policy show coder', 'value and file:line'],
        act: async (io, given) => (await import('../policy-verbs.ts')).policyShow(io, given),
      },
      {
        usage: 'explain [path...]',
        summary: "the enforcer's answer for paths and the rule behind it",
        options: [
          ['--stdin', 'read paths from standard input, a line each or NUL-separated'],
          ['--role <role>', 'only this role'],
          ['--operation <operation>', 'create, modify or delete'],
          ['--profile <name>', 'judge by a shipped profile, outside a repository too'],
          ['--vars <file>', "JSON merged over the profile's list variables"],
        ],
        example: ['git diff --name-only | orchestrator policy explain --stdin', 'who may change what you changed'],
        act: async (io, given) => (await import('../policy-verbs.ts')).policyExplain(io, given),
      },
      {
        usage: 'schema [kind]',
        summary: 'JSON Schema of the policy files',
        example: ['orchestrator policy schema', 'for an editor that checks YAML'],
        act: async (io, given) => (await import('../policy-verbs.ts')).policySchema(io, given),
      },
      {
        usage: 'reload',
        summary: 'have the daemon read the policies again',
        example: ['orchestrator policy reload', 'new steps use the new policies'],
        act: async (io) => (await import('../policy-reload.ts')).policyReload(io),
      },
    ],
  },
  {
    usage: 'doctor',
    summary: 'check machine, repository, keys and models; exit 1 when something is wrong',
    options: [['--role <role>', 'only the key and the model of this role']],
    example: ['orchestrator doctor --role coder', 'asks its model once, and says what is wrong and what helps'],
    act: async (io, given) => (await import('../doctor/doctor.ts')).doctor(io, given),
  },
  {
    usage: 'path [what]',
    summary: 'where things are: state, env, workspaces, log, socket',
    example: ['$EDITOR "$(orchestrator path env)"', 'opens the file that holds the keys'],
    act: async (io, given) => (await import('../path.ts')).path(io, given),
  },
  {
    usage: 'demo',
    summary: 'the whole pipeline on a small project, against a scripted model',
    options: [['--yes', 'approve everything without asking']],
    example: ['orchestrator demo --yes', 'runs in a temporary directory, costs nothing'],
    act: async (io, given) => (await import('../demo.ts')).demo(io, given),
  },
  {
    usage: 'completion <shell>',
    summary: 'completion script for bash, zsh or fish',
    example: ['source <(orchestrator completion bash)', 'completes commands and options in this shell'],
    act: async (io, given) => (await import('../completion.ts')).completion(io, given),
  },
];
