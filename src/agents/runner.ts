import type { Operation, Verdict } from '../domain/decision.ts';
import type { AgentId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { RolePolicy } from '../policy/policy.ts';
import type { Sandbox, View } from '../sandbox/sandbox.ts';

/**
 * Drives an agent through one attempt of a step.
 *
 * Contract: `run` never throws after its first event; the last event is `ended`, once. When the signal aborts, the
 * runner ends its processes and its calls and then emits `ended` with reason `interrupted`.
 */
export interface Runner {
  run(assignment: Assignment, options: { signal: AbortSignal }): AsyncIterable<AgentEvent>;
}

export interface Assignment {
  readonly agent: AgentId;
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
  readonly attempt: number;
  readonly policy: RolePolicy;
  /** What this role submits: planner a plan, reviewer a review, others nothing. */
  readonly submits: 'plan' | 'review' | 'nothing';
  readonly prompt: { readonly system: string; readonly user: string };
  /** URL and virtual key of the gateway. */
  readonly gateway: { readonly url: string; readonly port: number; readonly socketPath: string; readonly key: string };
  readonly sandbox: Sandbox;
  readonly view: View;
  /** Milliseconds of wall clock already used by earlier runs of this attempt. */
  readonly activeMs: number;
  /** How many times a human has granted the limits again. */
  readonly allowances: number;
  /** Earlier turns of the same attempt, oldest first; the last one may be pending. */
  readonly history: readonly TurnRecord[];
  readonly host: StepHost;
}

/** What the daemon does for a runner. Every method may throw: the step then fails with that reason. */
export interface StepHost {
  /** The boundary, grants included: a granted `ask` comes back as `write`. */
  decide(operation: Operation, path: RepoPath): Verdict;
  /** Was this pending tool call answered by a human? */
  answerFor(toolCallId: string): HumanAnswer | undefined;
  /** Records a refused attempt (event, violation row) and counts it. */
  refused(attempt: { tool: string; path: string; operation: Operation; verdict: Verdict }): Promise<void>;
  /** Records a command that `run.allow` does not cover (event). It says nothing about paths, so it is not counted. */
  refusedCommand(attempt: { command: string; reason: string }): Promise<void>;
  /** Persists a turn whose tool calls are not all answered, before the step parks. */
  savePending(turn: TurnRecord): Promise<void>;
  /**
   * Ends a turn: snapshots, judges, quarantines, persists the turn with its snapshot in one transaction, and says
   * what the model must be told and whether the step has to park.
   */
  endTurn(turn: TurnRecord): Promise<TurnEffects>;
  /** Appends to `agent-notes/<role>.md` of the checkout, once per deduplication key. */
  appendNote(text: string, turn: number): Promise<void>;
  /** Takes a plan; a text that says what is wrong with it, or undefined when it is accepted. */
  submitPlan(plan: SubmittedPlan): Promise<string | undefined>;
  submitReview(review: SubmittedReview): Promise<string | undefined>;
  /** Work tokens left in the tightest budget, for the prompt. */
  budgetLeft(): number | 'unlimited';
  now(): number;
}

export type HumanAnswer = { readonly verdict: 'approve' } | { readonly verdict: 'reject'; readonly reason: string };

export interface TurnEffects {
  /** Whether any file changed in this turn and stayed. */
  readonly changed: boolean;
  /** Sentences for the model about what was undone and why; appended to the turn's results. */
  readonly notices: readonly string[];
  /** The step must stop here and wait for a human. */
  readonly park?: Park;
}

export type Park =
  | {
      readonly kind: 'boundary';
      readonly paths: readonly RepoPath[];
      readonly reason: string;
      readonly toolCallId?: string;
    }
  | { readonly kind: 'violation'; readonly reason: string };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}
export interface ToolResult {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** One model call and the tool calls that follow it; what is needed to go on with the conversation. */
export interface TurnRecord {
  readonly turn: number;
  readonly protocol: RolePolicy['model']['protocol'];
  /** The assistant message exactly as the provider returned it (content blocks, or a chat message). */
  readonly assistant: unknown;
  readonly calls: readonly ToolCall[];
  /** Answers so far, in the order of `calls`; fewer than calls while the turn is pending. */
  readonly results: readonly ToolResult[];
  /** Daemon's sentences after this turn's results (TurnEffects.notices, reminders). */
  readonly notices: readonly string[];
  /** sha256 over what the turn asked for, for `identical_calls`. */
  readonly callsHash: string;
  readonly progress: boolean;
}

export interface SubmittedPlan {
  readonly tasks: readonly {
    readonly title: string;
    readonly steps?: readonly string[] | undefined;
    readonly expected_paths: readonly string[];
    readonly instructions: string;
    readonly acceptance?: string | undefined;
    readonly depends_on?: readonly number[] | undefined;
  }[];
}
export interface SubmittedReview {
  readonly verdict: 'approve' | 'request_changes';
  readonly findings: readonly {
    readonly path?: string | undefined;
    readonly line?: number | undefined;
    readonly severity: string;
    readonly text: string;
  }[];
}

export type AgentEvent =
  | { readonly type: 'turn'; readonly turn: number; readonly text: string; readonly tools: readonly string[] }
  | {
      readonly type: 'tool';
      readonly turn: number;
      readonly tool: string;
      readonly summary: string;
      readonly isError: boolean;
    }
  | {
      readonly type: 'ended';
      readonly ending: Ending;
      /** Whether every process of the step was proved dead; false is a `dirty-end` finding. */
      readonly processes: { readonly dead: boolean; readonly evidence: string };
    };

export type Ending =
  | { readonly reason: 'finish'; readonly summary: string }
  | { readonly reason: 'budget'; readonly message: string }
  | { readonly reason: 'parked'; readonly park: Park }
  | { readonly reason: 'stalled'; readonly message: string }
  | { readonly reason: 'failed'; readonly message: string }
  | { readonly reason: 'interrupted' };
