import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { OrchestratorError } from '../../domain/errors.ts';
import type { Row, Store } from '../store.ts';
import { acquireDaemonLock } from './lock.ts';
import { loadMigrations, migrate } from './migrate.ts';
import { checkParams, loadStatements, type Statements, statementNamed } from './statements.ts';
import { startWriter } from './writer-client.ts';

export interface SqliteStoreOptions {
  /** The database file; made when it does not exist. */
  readonly path: string;
  /** When given, the daemon lock is taken first and held until `close`. */
  readonly lockPath?: string;
  /** Milliseconds since the epoch; names the backups that migrations leave. */
  readonly nowMs: number;
}

/**
 * Opens (and migrates) the SQLite store. One writer in a worker thread, one read connection here.
 *
 * A write rejects with OrchestratorError: when its batch is wrong in itself (constraint, unknown statement; others are
 * untouched), when the database failed (until a later write's probe succeeds), or when the store is closed.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const lock = options.lockPath === undefined ? undefined : await takeLock(options.lockPath);
  try {
    createPrivate(options.path);
    const migrations = loadMigrations(fileURLToPath(new URL('./migrations/', import.meta.url)));
    migrate({ path: options.path, migrations, nowMs: options.nowMs });
    const statements = loadStatements(fileURLToPath(new URL('./sql/', import.meta.url)));
    const writer = await startWriter({ path: options.path, statements });
    const reader = openReader(options.path, statements);
    return {
      write: writer.write,
      read: reader.read,
      async close() {
        reader.close();
        await writer.close();
        lock?.release();
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function takeLock(lockPath: string): Promise<{ release(): void }> {
  const lock = await acquireDaemonLock(lockPath);
  if ('release' in lock) return lock;
  const holder = lock.heldBy.pid === undefined ? 'another process' : `process ${lock.heldBy.pid}`;
  throw new OrchestratorError('failed', `The state directory of ${lockPath} is in use by ${holder}; stop it first.`);
}

function createPrivate(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
}

function openReader(path: string, statements: Statements): { read: Store['read']; close(): void } {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  const prepared = new Map<string, StatementSync>();
  return {
    read(name, params = {}) {
      const statement = statementNamed(statements, name);
      checkParams(statement, params);
      let handle = prepared.get(name);
      if (handle === undefined) {
        handle = database.prepare(statement.sql);
        prepared.set(name, handle);
      }
      return handle.all(params).map((row) => ({ ...row }) as Row);
    },
    close: () => database.close(),
  };
}
