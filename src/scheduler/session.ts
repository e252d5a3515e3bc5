import type { HumanAnswer } from '../agents/runner.ts';
import type { AgentId, ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Run, Step, Task } from '../domain/run.ts';
import type { Grant } from '../gate/gate.ts';
import type { Decider, RolePolicy } from '../policy/policy.ts';
import { eventWrite } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { commit, type Engine } from './engine.ts';
import { appendNote } from './notes.ts';

/** Everything about one attempt of a step while its agent works. */
export interface Session {
  readonly engine: Engine;
  readonly run: Run;
  readonly task: Task;
  readonly agent: AgentId;
  readonly policy: RolePolicy;
  readonly workspace: Workspace;
  readonly decider: Decider;
  readonly baseTree: ObjectId;
  readonly notesTracked: boolean;
  readonly grants: readonly Grant[];
  /** Answers of humans to pending tool calls, by tool call id. */
  readonly answers: ReadonlyMap<string, HumanAnswer>;
  /** Work tokens left in the tightest budget. */
  readonly budgetLeft: () => number | 'unlimited';
  /** When this sitting began, by the work clock. */
  readonly startedAt: number;
  /** The last tree that the boundary accepted. */
  acceptedTree: ObjectId;
  step: Step;
  /** The staged change that waits for a human, when the step parks at `boundary` for an effect. */
  staged: { tree: ObjectId; paths: readonly RepoPath[]; patch: string } | undefined;
}

/** The step row with the time of this sitting added. */
export function withTime(session: Session): Step {
  const sitting = Math.max(0, session.engine.workClock.now() - session.startedAt);
  return { ...session.step, activeMs: session.step.activeMs + sitting };
}

export async function writeNote(session: Session, text: string, key: string): Promise<void> {
  const { engine } = session;
  await appendNote({
    checkout: engine.user.root,
    backup: engine.paths.notesBackup,
    role: session.step.role,
    key,
    text,
  });
  await commit(engine.store, [sessionEvent(session, 'note-appended', { text: text.slice(0, 2000) })]);
}

export function sessionEvent(session: Session, type: string, data: Record<string, unknown>): Write {
  return eventWrite({
    at: session.engine.clock.now(),
    type,
    run: session.run.id,
    task: session.task.id,
    role: session.step.role,
    agent: session.agent,
    data,
  });
}
