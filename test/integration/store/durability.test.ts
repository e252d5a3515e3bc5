import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readEvents } from '../../../src/store/events.ts';
import { acquireDaemonLock } from '../../../src/store/sqlite/lock.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';

let directory: string;
let children: ChildProcess[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-durable-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) await kill(child);
  rmSync(directory, { recursive: true, force: true });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function start(command: string, args: readonly string[]): { child: ChildProcess; lines: AsyncIterator<string> } {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}
const script = (name: string) => join(import.meta.dirname, name);

test('kill -9 loses no acknowledged row', async () => {
  const path = join(directory, 'state.db');
  let acknowledged = 0;
  for (let round = 0; round < 3; round++) {
    const { child, lines } = start(process.execPath, [script('writer-child.ts'), path]);
    for (let row = 0; row < 20; row++) {
      expect((await lines.next()).value).toBe(String(row + 1));
      acknowledged++;
    }
    await kill(child);
  }
  const store = await openSqliteStore({ path, nowMs: 2 });
  const rows = readEvents(store, 0, 100_000);
  await store.close();
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged);
  // Rows of a round are complete and in order, however many followed the last acknowledged one.
  const numbers = rows.map((row) => Number(row.data['number']));
  for (const [index, number] of numbers.entries()) {
    expect(number === 1 || number === (numbers[index - 1] ?? 0) + 1).toBe(true);
  }
});

test.runIf(process.platform === 'linux')('a full disk rejects every write until there is space again', async () => {
  const path = join(directory, 'state.db');
  await (await openSqliteStore({ path, nowMs: 1 })).close();
  // A soft file size limit gives EFBIG on write, and can be lifted from outside, as when space is freed.
  const limited = `trap '' XFSZ; ulimit -S -f 400; exec "$0" "$1" "$2"`;
  const { child, lines } = start('bash', ['-c', limited, process.execPath, script('writer-child.ts'), path]);
  let acknowledged = 0;
  let line = String((await lines.next()).value);
  while (!line.startsWith('error') && acknowledged < 10_000) {
    acknowledged++;
    line = String((await lines.next()).value);
  }
  expect(line).toMatch(/check disk space/);
  for (let n = 0; n < 3; n++) expect(String((await lines.next()).value)).toMatch(/^error/);
  execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
  for (let n = 0; n < 100 && line.startsWith('error'); n++) line = String((await lines.next()).value);
  expect(line).toMatch(/^\d+$/);
  await kill(child);

  const store = await openSqliteStore({ path, nowMs: 2 });
  const stored = readEvents(store, 0, 100_000).map((row) => Number(row.data['number']));
  await store.close();
  expect(stored.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, index) => index + 1));
  expect(stored).toContain(Number(line));
});

test('one process holds the daemon lock, and kill -9 frees it at once', async () => {
  const path = join(directory, 'lock.db');
  const holder = start(process.execPath, [script('lock-child.ts'), path]);
  expect((await holder.lines.next()).value).toBe('held');
  expect(await acquireDaemonLock(path)).toEqual({ heldBy: { pid: holder.child.pid } });
  const second = start(process.execPath, [script('lock-child.ts'), path]);
  expect((await second.lines.next()).value).toBe(`refused ${holder.child.pid}`);
  await expect(openSqliteStore({ path: join(directory, 's.db'), lockPath: path, nowMs: 1 })).rejects.toThrow(/in use/);

  await kill(holder.child);
  const lock = await acquireDaemonLock(path);
  expect(lock).toHaveProperty('release');
  if ('release' in lock) lock.release();
  const again = await acquireDaemonLock(path);
  expect(again).toHaveProperty('release');
  if ('release' in again) again.release();
});
