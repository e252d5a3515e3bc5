import type { ToolCall } from '../../runner.ts';

/** Beyond this a person would not read on in a question; the merge checkpoint shows the whole diff. */
const LONGEST_VALUE = 4000;

/** A call as the person reads it who is asked about it: its tool, and each input under its name. */
export function requestText(call: ToolCall): string {
  const fields = typeof call.input === 'object' && call.input !== null ? Object.entries(call.input) : [];
  return [`${call.name} waits for a human's approval:`, ...fields.map(([name, value]) => fieldText(name, value))].join(
    '\n',
  );
}

function fieldText(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const cut =
    text.length <= LONGEST_VALUE
      ? text.replace(/\n$/, '')
      : `${text.slice(0, LONGEST_VALUE)}\n(${text.length - LONGEST_VALUE} more characters)`;
  return cut.includes('\n') ? `${name}:\n${cut.replace(/^/gm, '  ')}` : `${name}: ${cut}`;
}
