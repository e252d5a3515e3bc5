import type { EventRow } from '../../api/backend.ts';

/**
 * One event as a progress line: `10:15:03 T1/coder turn 2: read_file, edit_file`. Undefined for what only the ledger and
 * the log care about. Not escaped; the caller prints it escaped.
 */
export function eventText(event: EventRow): string | undefined {
  if (SILENT.has(event.type)) return undefined;
  const time = new Date(event.at).toISOString().slice(11, 19);
  const where = [event.task, event.role].filter((part) => part !== null).join('/');
  return [time, where, description(event)].filter((part) => part !== '').join(' ');
}

const SILENT: ReadonlySet<string> = new Set([
  'call-reserved',
  'call-sent',
  'call-settled',
  'call-over-reserved',
  'call-released',
  'budget-refused',
]);

function description(event: EventRow): string {
  const { data } = event;
  if (event.type === 'turn-ended') {
    const tools = Array.isArray(data['tools']) && data['tools'].length > 0 ? data['tools'].join(', ') : 'no tool';
    return `turn ${data['turn']}: ${tools}${data['changed'] === true ? ' (files changed)' : ''}`;
  }
  if (event.type === 'violation-recorded') return `${data['resolution']}: ${data['decision']} ${data['path']}`;
  const said = TELLING.map((name) => data[name]).find((value) => typeof value === 'string' && value !== '');
  const what = event.type.replaceAll('-', ' ');
  return said === undefined ? what : `${what}: ${firstLine(String(said))}`;
}

/** Fields of an event's data that say in words what happened, most telling first. */
const TELLING = ['summary', 'message', 'reason', 'state', 'path', 'command', 'tool'] as const;
const LONGEST = 200;

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
