import type { Verb } from './verb.ts';

/** The seven that a day needs, in the order of a day. */
export const DAILY_VERBS: readonly Verb[] = [
  {
    usage: 'init',
    summary: 'write policies, notes, the state directory and the .env template',
    options: [
      ['--profile <name>', 'use this profile instead of the detected one'],
      ['--roles <list>', 'roles of the pipeline, say planner,coder'],
      ['--track', 'leave policies/ and agent-notes/ to be committed instead of excluding them'],
      ['--yes', 'ask nothing'],
      ['--restore', 'bring back policies and notes that were cleaned away'],
    ],
    example: ['orchestrator init --yes', 'detects the profile and writes policies/ and agent-notes/'],
    act: async (io, given) => (await import('../init/init.ts')).init(io, given),
  },
  {
    usage: 'start',
    summary: 'start the daemon; returns when it is ready',
    options: [['--foreground', 'stay attached and show the log']],
    example: ['orchestrator start', 'starts the daemon of this repository and says what it watches'],
    act: async (io, given) => (await import('../start.ts')).start(io, given),
  },
  {
    usage: 'run <request>',
    summary: 'hand in a request',
    options: [
      ['--role <role>', 'a single step of this role, without a plan'],
      ['--base <revision>', 'start from this commit instead of HEAD'],
      ['--with-wip', 'take uncommitted work along'],
      ['--target <branch>', 'the branch to build instead of orchestrator/<run>'],
      ['--dry-run', 'judge and report, commit nothing'],
      ['--wait', 'follow the run; ask in place, or exit 3 at the first checkpoint without a terminal'],
    ],
    example: ['orchestrator run "Make slugify keep digits" --wait', 'follows the run and asks you in place'],
    act: async (io, given) => (await import('../run.ts')).run(io, given),
  },
  {
    usage: 'status',
    summary: 'the daemon, roles, budgets, runs, and what waits',
    example: ['orchestrator status --json', 'the same for scripts'],
    act: async (io) => (await import('../status.ts')).status(io),
  },
  {
    usage: 'review',
    summary: 'walk through what waits for you, with a coloured diff',
    example: ['orchestrator review', 'y approves, n rejects, d shows the diff, s skips, q leaves'],
    act: async (io) => (await import('../review.ts')).review(io),
  },
  {
    usage: 'report',
    summary: 'tokens and money',
    options: [
      ['--by <key>', 'role (default), model, task, run or day'],
      ['--since <when>', 'a date, or an age such as 24h or 7d'],
      ['--format <format>', 'table (default), json or csv'],
    ],
    example: ['orchestrator report --by day --since 7d', 'one row a day of the last week'],
    act: async (io, given) => (await import('../report.ts')).report(io, given),
  },
  {
    usage: 'land <run>',
    summary: "bring a run's result into your branch",
    options: [
      ['--squash', 'as one commit'],
      ['--branch <name>', 'into this branch instead of the checked-out one'],
    ],
    example: ['orchestrator land r-20261130-101500-k3f9', 'fast-forwards, or merges and verifies'],
    act: async (io, given) => (await import('../land.ts')).land(io, given),
  },
];
