import type { AgentEvent, Park, ToolCall, ToolResult, TurnRecord } from '../runner.ts';
import { unusableReason } from './models/call-input.ts';
import type { Toolbox, ToolOutcome } from './toolbox.ts';

export type CarriedOut =
  | { readonly kind: 'answered'; readonly turn: TurnRecord }
  | { readonly kind: 'parked'; readonly turn: TurnRecord; readonly park: Park }
  | { readonly kind: 'interrupted' };

/** Executes the calls of a turn that have no answer yet, in order; stops at the first one that has to wait. */
export async function* carryOut(input: {
  readonly turn: TurnRecord;
  readonly toolbox: Toolbox;
  readonly signal: AbortSignal;
}): AsyncGenerator<AgentEvent, CarriedOut> {
  const { turn, toolbox, signal } = input;
  const results: ToolResult[] = [...turn.results];
  let isFinished = false;
  for (const call of turn.calls.slice(results.length)) {
    if (signal.aborted) return { kind: 'interrupted' };
    const outcome: ToolOutcome = isFinished ? AFTER_FINISH : await execute(toolbox, call, { turn: turn.turn, signal });
    if (signal.aborted) return { kind: 'interrupted' };
    if (outcome.kind === 'park') return { kind: 'parked', turn: { ...turn, results }, park: outcome.park };
    isFinished ||= outcome.kind === 'finish';
    const result = resultOf(call, outcome);
    results.push(result);
    yield toolEvent(turn.turn, call, result);
  }
  return { kind: 'answered', turn: { ...turn, results } };
}

const AFTER_FINISH = {
  kind: 'result',
  text: 'Not executed: finish was called before it in the same answer.',
  isError: true,
} as const;

async function execute(
  toolbox: Toolbox,
  call: ToolCall,
  context: { readonly turn: number; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const reason = unusableReason(call.input);
  return reason === undefined ? toolbox.execute(call, context) : { kind: 'result', text: reason, isError: true };
}

function resultOf(call: ToolCall, outcome: Exclude<ToolOutcome, { kind: 'park' }>): ToolResult {
  switch (outcome.kind) {
    case 'result':
      return { id: call.id, text: outcome.text, isError: outcome.isError };
    case 'finish':
      return { id: call.id, text: 'Noted.', isError: false };
  }
}

function toolEvent(turn: number, call: ToolCall, result: ToolResult): AgentEvent {
  const subject = subjectOf(call.input);
  const parts = [subject, ...(result.isError ? [result.text.split('\n')[0] ?? ''] : [])].filter((part) => part !== '');
  return { type: 'tool', turn, tool: call.name, summary: short(parts.join(': ')), isError: result.isError };
}

/** What a call is about, in a few words: the first field that names a thing. */
function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const fields = input as Readonly<Record<string, unknown>>;
  if (typeof fields['from'] === 'string') return `${fields['from']} → ${String(fields['to'])}`;
  if (Array.isArray(fields['paths'])) return fields['paths'].map(String).join(', ');
  const named = ['path', 'command', 'pattern', 'glob', 'verdict', 'summary', 'text'].map((name) => fields[name]);
  return String(named.find((value) => typeof value === 'string') ?? '');
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}
