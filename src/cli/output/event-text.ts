import type { EventRow } from '../../api/backend.ts';

/** One event as a progress line: `10:15:03 T1/coder step started: …`. Not escaped; the caller prints it escaped. */
export function eventText(event: EventRow): string {
  const time = new Date(event.at).toISOString().slice(11, 19);
  const where = [event.task, event.role].filter((part) => part !== null).join('/');
  const said = TELLING.map((name) => event.data[name]).find((value) => typeof value === 'string' && value !== '');
  const line = [time, where, event.type.replaceAll('-', ' ')].filter((part) => part !== '').join(' ');
  return said === undefined ? line : `${line}: ${firstLine(String(said))}`;
}

/** Fields of an event's data that say in words what happened, most telling first. */
const TELLING = ['summary', 'message', 'reason', 'state', 'path', 'command', 'tool'] as const;
const LONGEST = 200;

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
