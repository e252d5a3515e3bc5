import type { Verb } from './verb.ts';

/** Looking at what happened and answering questions. */
export const ANSWER_VERBS: readonly Verb[] = [
  {
    usage: 'checkpoints',
    summary: 'questions that wait for an answer',
    options: [['--all', 'answered and void ones too']],
    example: ['orchestrator checkpoints', 'lists ids to show, approve or reject'],
    act: async (io, given) => (await import('../checkpoints.ts')).checkpoints(io, given),
  },
  {
    usage: 'show <id>',
    summary: 'a run, a task (r-…/T1) or a checkpoint (c-…) in full',
    options: [['--run <run>', 'the run of a task given as T1']],
    example: ['orchestrator show c-k3f9ab', 'the question, its evidence and the exact diff'],
    act: async (io, given) => (await import('../show.ts')).show(io, given),
  },
  {
    usage: 'approve <id...>',
    summary: 'approve exactly what a checkpoint shows',
    options: [
      ['--tokens <count>', 'the new cap of a budget, absolute, say 300k'],
      ['--usd <amount>', 'the new cap of a budget in dollars, absolute, say 2.50'],
      ['--despite-verify', 'approve although verify failed or is invalid'],
    ],
    example: ['orchestrator approve c-k3f9ab --tokens 300k', 'raises the cap to 300,000 and goes on'],
    act: async (io, given) => (await import('../approve.ts')).approve(io, given),
  },
  {
    usage: 'reject <id>',
    summary: 'reject it; the reason goes to the agent',
    options: [
      ['--reason <text>', 'why (needed)'],
      ['--rework', 'send a merge back to coder with the reason'],
      ['--task <task>', 'only this task of a merge'],
    ],
    example: ['orchestrator reject c-k3f9ab --reason "keep the old name"', 'discards the change, the step goes on'],
    act: async (io, given) => (await import('../reject.ts')).reject(io, given),
  },
  {
    usage: 'runs',
    summary: 'all runs, newest first',
    example: ['orchestrator runs', 'ids, states, requests'],
    act: async (io) => (await import('../runs.ts')).runs(io),
  },
  {
    usage: 'violations',
    summary: 'effects and refused attempts outside a boundary',
    example: ['orchestrator violations', 'who, which path, how it was found, what became of it'],
    act: async (io) => (await import('../violations.ts')).violations(io),
  },
  {
    usage: 'conflicts',
    summary: 'paths that two parties changed',
    example: ['orchestrator conflicts', 'kind, path, tasks and roles'],
    act: async (io) => (await import('../conflicts.ts')).conflicts(io),
  },
  {
    usage: 'notes [role]',
    summary: "what the roles wrote down; 'notes merge' prints one digest for you to merge",
    example: ['orchestrator notes coder', "prints the coder's notes"],
    act: async (io, given) => (await import('../notes.ts')).notes(io, given),
  },
  {
    usage: 'logs',
    summary: "the daemon's log",
    options: [
      ['-f, --follow', 'keep printing'],
      ['-n, --lines <count>', 'how many lines of the end (default 100)'],
    ],
    example: ['orchestrator logs -f', 'follows the log until you interrupt it'],
    act: async (io, given) => (await import('../logs.ts')).logs(io, given),
  },
];
