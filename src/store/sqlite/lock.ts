import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export type DaemonLock = { release(): void } | { readonly heldBy: { readonly pid: number | undefined } };

/**
 * Makes the caller the only daemon of a state directory.
 *
 * The lock is an open exclusive transaction on a database that is used for nothing else: the kernel drops it at any
 * kind of death, so that there is no stale lock. Nothing else in this process may open that file (closing any
 * descriptor of it would drop the lock). `<lockPath>.pid` only tells people who holds it.
 */
export async function acquireDaemonLock(lockPath: string): Promise<DaemonLock> {
  const database = new DatabaseSync(lockPath);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    return { heldBy: { pid: readHolder(lockPath) } };
  }
  chmodSync(lockPath, 0o600);
  writeFileSync(`${lockPath}.pid.new`, `${process.pid}\n`, { mode: 0o600 });
  renameSync(`${lockPath}.pid.new`, `${lockPath}.pid`);
  return { release: () => database.close() };
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === SQLITE_BUSY;
}

function readHolder(lockPath: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(`${lockPath}.pid`, 'utf8'), 10);
    return Number.isNaN(pid) ? undefined : pid;
  } catch {
    return undefined;
  }
}
