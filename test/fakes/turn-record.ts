import type { TurnRecord } from '../../src/agents/runner.ts';

/** A turn with nothing in it but what the test says. */
export function turnRecord(parts: Partial<TurnRecord>): TurnRecord {
  return {
    turn: 1,
    protocol: 'anthropic',
    assistant: [],
    calls: [],
    results: [],
    notices: [],
    callsHash: '',
    progress: true,
    ...parts,
  };
}
