import type { ToolResult, TurnRecord } from '../runner.ts';

/**
 * The history as it is sent: when the conversation passes 70 % of the window, results of old turns are replaced by a
 * one-line note, oldest first, down to 50 %, so that the cached prefix changes seldom. The last five turns and the
 * first user message always stay whole. The outcome depends on the history alone, so a resumed step sends the same.
 */
export function fitContext(input: {
  readonly history: readonly TurnRecord[];
  /** Bytes of system prompt, first user message and tools. */
  readonly fixedBytes: number;
  readonly windowTokens: number;
}): readonly TurnRecord[] {
  const { history, windowTokens } = input;
  const full = history.map(turnBytes);
  const short = history.map((turn) => turnBytes(dropResults(turn)));
  let dropped = 0;
  let bytes = input.fixedBytes;
  for (const [index, size] of full.entries()) {
    bytes += size;
    if (bytes <= HIGH * windowTokens * BYTES_PER_TOKEN) continue;
    while (dropped < index + 1 - KEPT_TURNS && bytes > LOW * windowTokens * BYTES_PER_TOKEN) {
      bytes -= (full[dropped] ?? 0) - (short[dropped] ?? 0);
      dropped += 1;
    }
  }
  return history.map((turn, index) => (index < dropped ? dropResults(turn) : turn));
}

const HIGH = 0.7;
const LOW = 0.5;
const KEPT_TURNS = 5;
/** Between code (4.5) and tool logs (2.1): facts D.1. */
const BYTES_PER_TOKEN = 3;
/** A short result costs no more than the note in its place. */
const SHORT_RESULT = 300;

function turnBytes(turn: TurnRecord): number {
  const results = turn.results.map((result) => result.text).join('');
  return Buffer.byteLength(JSON.stringify(turn.assistant) + results + turn.notices.join(''));
}

function dropResults(turn: TurnRecord): TurnRecord {
  return {
    ...turn,
    results: turn.results.map((result, index) => dropResult(result, turn.calls[index]?.name ?? 'tool')),
  };
}

function dropResult(result: ToolResult, tool: string): ToolResult {
  if (result.text.length <= SHORT_RESULT) return result;
  const note = `[${result.text.length} characters of an old ${tool} result were dropped to save context; call it again if they are needed]`;
  return { ...result, text: note };
}
