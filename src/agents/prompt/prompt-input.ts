import type { RoleName, TaskId } from '../../domain/ids.ts';
import type { RolePolicy } from '../../policy/policy.ts';
import type { Assignment } from '../runner.ts';

/** Everything that a step's prompt is made of. */
export interface PromptInput {
  readonly role: RoleName;
  readonly submits: Assignment['submits'];
  readonly policy: RolePolicy;
  readonly globs: {
    readonly write: readonly string[];
    readonly ask: readonly string[];
    readonly deny: readonly string[];
    /** Which files are generated, from what and by which command; empty when the repository has none. */
    readonly generatedNote: string;
  };
  /** The roles of the pipeline in order, with what each may write; the planner plans with them. */
  readonly pipeline: readonly {
    readonly role: RoleName;
    readonly write: readonly string[];
    readonly ask: readonly string[];
  }[];
  /** The command that checks the merged result; undefined when the repository has none. */
  readonly verify: string | undefined;
  readonly attempt: number;
  readonly task:
    | {
        readonly id: TaskId;
        readonly title: string;
        readonly instructions: string;
        readonly expectedPaths: readonly string[];
        readonly acceptance: string | undefined;
      }
    | undefined;
  /** What the user asked for. */
  readonly request: string;
  readonly budgetLeft: number | 'unlimited';
  /** AGENTS.md or CLAUDE.md of the base tree. */
  readonly repositoryInstructions: string | undefined;
  /** Why the step is done again. */
  readonly rework: { readonly reason: string; readonly findings: readonly string[] } | undefined;
  /** What earlier steps of the task said they did. */
  readonly previous: readonly { readonly role: RoleName; readonly summary: string }[];
  /** The role's own notes from earlier work. */
  readonly notes: string | undefined;
}
