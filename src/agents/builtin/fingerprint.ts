import { createHash } from 'node:crypto';
import type { ToolCall, ToolResult, TurnRecord } from '../runner.ts';

/** Equal for turns that ask for the same things, whatever the ids and the order of fields. */
export function hashCalls(calls: readonly ToolCall[]): string {
  return sha256(JSON.stringify(calls.map((call) => [call.name, sorted(call.input)])));
}

/** Whether a turn told the model something that this step has not returned before. */
export function hasNewResult(earlier: readonly TurnRecord[], results: readonly ToolResult[]): boolean {
  const seen = new Set(earlier.flatMap((turn) => turn.results.map((result) => sha256(result.text))));
  return results.some((result) => !seen.has(sha256(result.text)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return entries.map(([name, field]) => [name, sorted(field)]);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
