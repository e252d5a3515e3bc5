import { readFileSync } from 'node:fs';

export interface TableRow {
  readonly profile: string;
  readonly path: string;
  readonly vars: Readonly<Record<string, readonly string[]>>;
  /** Decisions of planner, coder, reviewer, test for creating the path. */
  readonly expected: readonly string[];
}

export const FIXTURES = new URL('../../fixtures/policy/', import.meta.url);
export const TABLE_ROLES = ['planner', 'coder', 'reviewer', 'test'] as const;

/** The acceptance table; rows that share profile and variables are one group. */
export function readDecisionTable(): readonly TableRow[] {
  let vars: TableRow['vars'] = {};
  const rows: TableRow[] = [];
  for (const line of readFileSync(new URL('policy-decisions.tsv', FIXTURES), 'utf8').split('\n')) {
    if (line.startsWith('# vars ')) vars = JSON.parse(line.slice('# vars '.length)) as TableRow['vars'];
    if (line === '' || line.startsWith('#')) continue;
    const [short = '', path = '', ...expected] = line.split('\t');
    const profile = short === 'cpython' || short === 'generic' ? short : `python-${short}`;
    rows.push({ profile, path, vars, expected });
  }
  return rows;
}

export function groupRows(rows: readonly TableRow[]): readonly (readonly TableRow[])[] {
  const groups = new Map<string, TableRow[]>();
  for (const row of rows) {
    const key = `${row.profile} ${JSON.stringify(row.vars)}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}
