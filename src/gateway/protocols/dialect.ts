import type { Usage } from '../../domain/usage.ts';
import type { Protocol } from '../../policy/policy.ts';
import type { JsonObject } from '../json.ts';
import type { SseEvent } from '../sse.ts';

/** What the gateway has to know about one wire protocol. Everything here is pure. */
export interface Dialect {
  readonly protocol: Protocol;
  /** The names of the output cap; the first is the one that is injected when none is there. */
  readonly capFields: readonly [string, ...string[]];
  /** The status on which this protocol's clients stop after one request (facts/gateway.md B.3). */
  readonly refusalStatus: 402 | 400;
  keyHeaders(key: string): Readonly<Record<string, string>>;
  /** The part of a request that stays the same through a conversation. */
  firstMessage(body: JsonObject): unknown;
  /** Tokens that the output cap must exceed by 1024, or the upstream refuses the request. */
  thinkingBudget(body: JsonObject): number;
  /** Whether a body that came with status 200 is an answer. */
  isAnswer(body: JsonObject): boolean;
  /** The usage that an answer states; undefined when it states none. */
  usageOf(body: JsonObject): Usage | undefined;
  /** Whether the output cap is what ended the answer. */
  isCutByCap(body: JsonObject): boolean;
  streamReader(): StreamReader;
  /** The event that ends a broken stream, as the protocol's clients understand it. */
  streamError(message: string): string;
}

/** Reads usage and progress off a stream's events. */
export interface StreamReader {
  accept(event: SseEvent): void;
  reading(): StreamReading;
}

export interface StreamReading {
  /** Undefined while nothing was stated: null is not zero. Counts are cumulative, the last statement wins. */
  readonly usage: Usage | undefined;
  /** The protocol's end marker was seen. */
  readonly done: boolean;
  /** The model has stopped (some upstreams leave the end marker out). */
  readonly finished: boolean;
  /** The upstream has reported an error inside the stream. */
  readonly failed: boolean;
  /** The output cap is what ended the answer. */
  readonly cutByCap?: boolean;
  /** Bytes of model output seen, for an estimate when the usage is missing. */
  readonly streamedBytes: number;
}
