import type { Park, ToolCall } from '../runner.ts';

/** A tool as it is offered to a model; the input is JSON schema. Fixed names and inputs (architecture.md). */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export type ToolOutcome =
  /** An answer for the model; a refusal is an error result that says decision, rule and what to do instead. */
  | { readonly kind: 'result'; readonly text: string; readonly isError: boolean }
  /** The step must wait for a human; this call is answered when it goes on. */
  | { readonly kind: 'park'; readonly park: Park }
  | { readonly kind: 'finish'; readonly summary: string };

/**
 * The built-in agent's tools for one step: definitions by the role's `tools` list, and their execution in one worker
 * process inside the view. The boundary is asked before a write; the judge at the turn's end decides by effect.
 */
export interface Toolbox {
  readonly definitions: readonly ToolDefinition[];
  /** Never throws for what an agent can cause (bad input, missing file, refused path); throws when the worker is gone. */
  execute(call: ToolCall, context: { turn: number; signal: AbortSignal }): Promise<ToolOutcome>;
  /** Ends the worker and everything it started. */
  end(): Promise<{ readonly dead: boolean; readonly evidence: string }>;
}
