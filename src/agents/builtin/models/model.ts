import type { Usage } from '../../../domain/usage.ts';
import type { ToolCall, TurnRecord } from '../../runner.ts';
import type { ToolDefinition } from '../toolbox.ts';

/** A model behind one protocol. Neither method throws; `complete` says every ending of a call as a value. */
export interface Model {
  complete(request: ModelRequest): Promise<ModelAnswer>;
  /** The text of an assistant message in this protocol's own form. */
  textOf(assistant: unknown): string;
}

export interface ModelRequest {
  readonly system: string;
  readonly user: string;
  /** Complete turns only, oldest first. */
  readonly history: readonly TurnRecord[];
  readonly tools: readonly ToolDefinition[];
  readonly signal: AbortSignal;
}

export type ModelAnswer =
  | {
      readonly kind: 'answer';
      /** Sent back unchanged with the next request; thinking blocks carry signatures. */
      readonly assistant: unknown;
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** `length`: the output cap, or the context window, cut the answer. */
      readonly stop: 'end' | 'length';
      readonly usage: Usage;
    }
  | ModelFailure;

export type ModelFailure =
  | { readonly kind: 'budget'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'interrupted' };

export interface ModelSettings {
  readonly url: string;
  readonly key: string;
  readonly id: string;
  readonly role: string;
  readonly temperature: number | undefined;
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
}
