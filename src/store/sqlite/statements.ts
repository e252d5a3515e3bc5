import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OrchestratorError } from '../../domain/errors.ts';
import type { Params } from '../store.ts';

/** A named statement with the parameters that it takes. */
export interface Statement {
  readonly name: string;
  readonly sql: string;
  readonly parameters: readonly string[];
}
export type Statements = ReadonlyMap<string, Statement>;

/** Every `<name>.sql` of a folder. Nothing is prepared here, so one broken statement harms only its caller. */
export function loadStatements(directory: string): Statements {
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'));
  return new Map(
    files.map((file) => {
      const name = file.slice(0, -'.sql'.length);
      const sql = readFileSync(join(directory, file), 'utf8');
      return [name, { name, sql, parameters: parameterNames(sql) }];
    }),
  );
}

export function statementNamed(statements: Statements, name: string): Statement {
  const statement = statements.get(name);
  if (statement !== undefined) return statement;
  throw new OrchestratorError('failed', `There is no SQL statement "${name}"; add sql/${name}.sql to the store.`);
}

/** SQLite binds a missing parameter as NULL without a word; here it is an error, and so is one too many. */
export function checkParams(statement: Statement, params: Params): void {
  const missing = statement.parameters.filter((name) => !(name in params));
  const unknown = Object.keys(params).filter((name) => !statement.parameters.includes(name));
  if (missing.length === 0 && unknown.length === 0) return;
  const parts = [
    ...missing.map((name) => `:${name} is missing`),
    ...unknown.map((name) => `:${name} does not occur in it`),
  ];
  throw new OrchestratorError('failed', `SQL statement "${statement.name}": ${parts.join(', ')}.`);
}

function parameterNames(sql: string): string[] {
  const bare = sql.replace(/--[^\n]*/g, '').replace(/'(?:[^']|'')*'/g, "''");
  return [...new Set([...bare.matchAll(/:([A-Za-z_][A-Za-z0-9_]*)/g)].map((match) => match[1] ?? ''))];
}
