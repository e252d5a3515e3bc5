import type { Violation } from '../domain/violation.ts';
import type { Io } from './io.ts';
import { ageText } from './output/amounts.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import { printTable } from './output/table.ts';
import { withDaemon } from './with-daemon.ts';

export async function violations(io: Io): Promise<number> {
  const found = await withDaemon(io, (api) => api.violations());
  if (io.json) {
    printJson(io, found.map(violationRow));
    return 0;
  }
  if (found.length === 0) {
    say(io, 'no violations recorded');
    return 0;
  }
  printTable(
    io,
    ['when', 'role', 'operation', 'decision', 'found by', 'resolution', 'path'],
    found.map((violation) => [
      ageText(violation.detectedAt, io.now()),
      violation.role ?? violation.attribution,
      violation.operation,
      violation.decision,
      violation.detectedBy,
      violation.resolution,
      violation.path,
    ]),
  );
  return 0;
}

/** The shape that scripts rely on; what is unknown is null, never missing. */
function violationRow(violation: Violation): Readonly<Record<string, unknown>> {
  const { id, run = null, task = null, role = null, ...rest } = violation;
  return { id, run, task, role, ...rest };
}
