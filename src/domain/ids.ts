import type { Brand } from './brand.ts';

export type RunId = Brand<string, 'RunId'>;
/** `T1`, `T2`, … given by the daemon, never by an agent. */
export type TaskId = Brand<string, 'TaskId'>;
/** `<run>/<task>/<role>#<attempt>`. */
export type AgentId = Brand<string, 'AgentId'>;
export type CheckpointId = Brand<string, 'CheckpointId'>;
export type RoleName = Brand<string, 'RoleName'>;
/** A full git object id, lower-case hex. */
export type ObjectId = Brand<string, 'ObjectId'>;

/** Time and randomness come in as arguments, so that the core can be replayed. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}
/** A source of `length` random characters out of [a-z0-9]. */
export type RandomText = (length: number) => string;

/** `r-20261130-101500-k3f9`, in UTC. */
export function newRunId(clock: Clock, random: RandomText): RunId {
  const stamp = new Date(clock.now()).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `r-${stamp}-${random(4)}` as RunId;
}

export function newCheckpointId(random: RandomText): CheckpointId {
  return `c-${random(6)}` as CheckpointId;
}

export function taskId(ordinal: number): TaskId {
  return `T${ordinal}` as TaskId;
}

export function agentId(step: { run: RunId; task: TaskId; role: RoleName; attempt: number }): AgentId {
  return `${step.run}/${step.task}/${step.role}#${step.attempt}` as AgentId;
}

/** The deduplication key of one turn's effects: `<run>:<task>:<role>#<attempt>:<turn>`. */
export function turnKey(step: { run: RunId; task: TaskId; role: RoleName; attempt: number }, turn: number): string {
  return `${step.run}:${step.task}:${step.role}#${step.attempt}:${turn}`;
}

/** The null object id that git uses for "does not exist". */
export const ZERO_OBJECT_ID = '0000000000000000000000000000000000000000' as ObjectId;
