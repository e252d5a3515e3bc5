import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OrchestratorError } from '../../domain/errors.ts';

export interface Migration {
  readonly number: number;
  readonly sql: string;
}

/** `0001.sql`, `0002.sql`, … in order, without a gap. */
export function loadMigrations(directory: string): Migration[] {
  const files = readdirSync(directory)
    .filter((file) => /^\d{4}\.sql$/.test(file))
    .sort();
  return files.map((file, index) => {
    const number = Number(file.slice(0, 4));
    if (number !== index + 1) {
      throw new OrchestratorError('failed', `Migration ${file} does not follow number ${index} in ${directory}.`);
    }
    return { number, sql: readFileSync(join(directory, file), 'utf8') };
  });
}

/**
 * Brings the database at `path` to the newest schema, forward only.
 *
 * Each migration is one transaction that first claims its number: two processes that start at once apply it once, and a
 * crash leaves the schema before or after it, never between. Before each one the database is copied to
 * `<path>.v<version>-<nowMs>.bak` (not when it was empty at first). A newer schema is refused before anything is opened for writing.
 */
export function migrate(options: { path: string; migrations: readonly Migration[]; nowMs: number }): void {
  refuseNewer(options.path, options.migrations.length);
  const database = new DatabaseSync(options.path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    const isNew = schemaVersion(database) === 0;
    for (const migration of options.migrations) applyOnce(database, migration, { ...options, isNew });
  } finally {
    database.close();
  }
}

const BUSY_TIMEOUT_MS = 10_000;

function refuseNewer(path: string, known: number): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const version = schemaVersion(database);
    if (version <= known) return;
    throw new OrchestratorError(
      'configuration',
      `The database ${path} has schema ${version}, this version knows ${known}. Nothing was changed: use the newer orchestrator that wrote it, or restore a backup beside it.`,
    );
  } finally {
    database.close();
  }
}

function applyOnce(
  database: DatabaseSync,
  migration: Migration,
  options: { path: string; nowMs: number; isNew: boolean },
): void {
  const before = schemaVersion(database);
  if (before >= migration.number) return;
  if (!options.isNew) database.prepare('VACUUM INTO ?').run(`${options.path}.v${before}-${options.nowMs}.bak`);
  database.exec('BEGIN IMMEDIATE');
  try {
    if (schemaVersion(database) < migration.number) {
      database.exec(migration.sql);
      database.exec(`PRAGMA user_version = ${migration.number}`);
    }
    database.exec('COMMIT');
  } catch (cause) {
    database.exec('ROLLBACK');
    throw new OrchestratorError(
      'failed',
      `Migration ${migration.number} of ${options.path} failed and was rolled back; the schema is still ${before}.`,
      { cause },
    );
  }
}

function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
}
