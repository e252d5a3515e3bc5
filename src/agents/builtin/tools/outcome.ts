import type { ToolOutcome } from '../toolbox.ts';

export function done(text: string): ToolOutcome {
  return { kind: 'result', text, isError: false };
}

export function failed(text: string): ToolOutcome {
  return { kind: 'result', text, isError: true };
}
