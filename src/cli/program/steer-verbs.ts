import type { Verb } from './verb.ts';

/** Steering what runs. */
export const STEER_VERBS: readonly Verb[] = [
  {
    usage: 'cancel <run>',
    summary: 'end a run; its branch and snapshots stay',
    example: ['orchestrator cancel r-20261130-101500-k3f9', 'ends its agents and voids its checkpoints'],
    act: async (io, given) => (await import('../cancel.ts')).cancel(io, given),
  },
  {
    usage: 'retry <task>',
    summary: 'start a failed task again',
    options: [['--run <run>', 'the run of a task given as T1']],
    example: ['orchestrator retry r-20261130-101500-k3f9/T1', 'attempt 2 of the step that failed'],
    act: async (io, given) => (await import('../retry.ts')).retry(io, given),
  },
  {
    usage: 'resume <run>',
    summary: 'go on with a run that stopped',
    example: ['orchestrator resume r-20261130-101500-k3f9', 'goes on where it stopped'],
    act: async (io, given) => (await import('../resume.ts')).resume(io, given),
  },
  {
    usage: 'restore <role> <path>',
    summary: 'write what a role last had for a path, or what was put aside, into the state directory',
    example: ['orchestrator restore coder src/app.py', 'brings the file back in your checkout'],
    act: async (io, given) => (await import('../restore.ts')).restore(io, given),
  },
  {
    usage: 'stop',
    summary: 'stop the daemon; runs go on at the next start',
    options: [['--now', 'end agents at once instead of at the end of their turn']],
    example: ['orchestrator stop', 'lets turns end, then stops'],
    act: async (io, given) => (await import('../stop.ts')).stop(io, given),
  },
  {
    usage: 'gc',
    summary: 'remove snapshots and workspaces that nothing needs',
    options: [['--dry-run', 'only say what would go']],
    example: ['orchestrator gc --dry-run', 'says how much disk it would free'],
    act: async (io, given) => (await import('../gc.ts')).gc(io, given),
  },
];
