import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { messageOf } from '../../domain/errors.ts';
import type { Write, WriteOutcome } from '../store.ts';
import { checkParams, type Statements, statementNamed } from './statements.ts';

/** What became of one batch. `invalid`: the batch itself is wrong (constraint, syntax); `broken`: the database failed. */
export type BatchResult =
  | { readonly kind: 'outcome'; readonly outcome: WriteOutcome }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'broken'; readonly message: string };

/** Applies groups of batches, each group in one transaction and each batch in a savepoint of its own. */
export interface GroupWriter {
  apply(group: readonly (readonly Write[])[]): BatchResult[];
}

/**
 * After the database has failed once (disk full, I/O error) nothing is accepted until a probe row could be committed;
 * every later group tries the probe first, so that writing goes on by itself when there is space again.
 */
export function createGroupWriter(database: DatabaseSync, statements: Statements): GroupWriter {
  const prepared = new Map<string, StatementSync>();
  let broken = false;

  function run(write: Write): number {
    const statement = statementNamed(statements, write.statement);
    checkParams(statement, write.params);
    let handle = prepared.get(statement.name);
    if (handle === undefined) {
      handle = database.prepare(statement.sql);
      prepared.set(statement.name, handle);
    }
    return Number(handle.run(write.params).changes);
  }

  return {
    apply(group) {
      try {
        if (broken) inTransaction(database, () => database.exec(PROBE));
        broken = false;
        return inTransaction(database, () => group.map((batch) => applyBatch(database, batch, run)));
      } catch (error) {
        broken = true;
        return group.map(() => ({ kind: 'broken', message: messageOf(error) }));
      }
    },
  };
}

const PROBE = "INSERT INTO meta (key, value) VALUES ('probe', '1') ON CONFLICT (key) DO UPDATE SET value = value + 1";

function inTransaction<T>(database: DatabaseSync, body: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = body();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite may have rolled back by itself; the first failure is the one that counts.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Throws only when the database itself failed. */
function applyBatch(database: DatabaseSync, batch: readonly Write[], run: (write: Write) => number): BatchResult {
  database.exec('SAVEPOINT batch');
  const result = tryBatch(batch, run);
  const kept = result.kind === 'outcome' && result.outcome.committed;
  database.exec(kept ? 'RELEASE batch' : 'ROLLBACK TO batch; RELEASE batch');
  return result;
}

function tryBatch(batch: readonly Write[], run: (write: Write) => number): BatchResult {
  const changes: number[] = [];
  for (const [index, write] of batch.entries()) {
    try {
      const changed = run(write);
      if (write.expectChanges !== undefined && write.expectChanges !== changed) {
        return { kind: 'outcome', outcome: { committed: false, failedAt: index } };
      }
      changes.push(changed);
    } catch (error) {
      if (isDatabaseFailure(error)) throw error;
      return { kind: 'invalid', message: `${write.statement}: ${messageOf(error)}` };
    }
  }
  return { kind: 'outcome', outcome: { committed: true, changes } };
}

/** Primary result codes that blame the statement or its values rather than the disk: ERROR, CONSTRAINT, MISMATCH, … */
const STATEMENT_FAULTS: ReadonlySet<number> = new Set([1, 18, 19, 20, 25]);

function isDatabaseFailure(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  return typeof error.errcode === 'number' && !STATEMENT_FAULTS.has(error.errcode & 0xff);
}
