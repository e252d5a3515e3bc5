import type { Report, ReportBy, ReportRow } from '../api/backend.ts';
import { OrchestratorError } from '../domain/errors.ts';
import { reportCsv } from '../report/csv.ts';
import { reportTable } from '../report/table.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { defined, type Given, textOption } from './program/verb.ts';
import { parseSince } from './since.ts';
import { withDaemon } from './with-daemon.ts';

export async function report(io: Io, given: Given): Promise<number> {
  const by = oneOf(BY, '--by', textOption(given, 'by') ?? 'role');
  const format = oneOf(FORMATS, '--format', textOption(given, 'format') ?? (io.json ? 'json' : 'table'));
  const since = parseSince(textOption(given, 'since'), io.now());
  const found = await withDaemon(io, (api) => api.report({ by, ...defined('since', since) }));
  switch (format) {
    case 'json':
      printJson(io, reportShape(found));
      break;
    case 'csv':
      io.stdout(reportCsv(found));
      break;
    case 'table':
      io.stdout(reportTable(found));
      break;
  }
  return 0;
}

const BY = ['role', 'model', 'task', 'run', 'day'] as const satisfies readonly ReportBy[];
const FORMATS = ['table', 'json', 'csv'] as const;

function oneOf<Name extends string>(names: readonly Name[], option: string, text: string): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  throw new OrchestratorError('usage', `${option} ${text}: it is one of ${names.join(', ')}`);
}

/** In JSON the key of a row has the name of what it is grouped by. */
function reportShape(found: Report) {
  const row = ({ key, ...figures }: ReportRow) => ({ [found.by]: key, ...figures });
  const { key: _, ...total } = found.total;
  return { rows: found.rows.map(row), total, notes: found.notes };
}
