/** A line of the daemon's log as a person reads it. A line that is not one of ours stays as it is. */
export function logLineText(line: string): string {
  const record = parseRecord(line);
  if (record === undefined) return line;
  const { time, level, msg, ...rest } = record;
  const known = ['pid', 'hostname', 'name', 'v'];
  const fields = Object.entries(rest)
    .filter(([name]) => !known.includes(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const at = typeof time === 'number' ? new Date(time).toISOString() : String(time ?? '');
  return [at, LEVELS.get(Number(level)) ?? String(level ?? ''), String(msg ?? ''), ...fields].join(' ').trim();
}

/** pino's numbers. */
const LEVELS: ReadonlyMap<number, string> = new Map([
  [10, 'trace'],
  [20, 'debug'],
  [30, 'info '],
  [40, 'warn '],
  [50, 'error'],
  [60, 'fatal'],
]);

function parseRecord(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
