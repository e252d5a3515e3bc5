import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventWrite, readEvents } from '../../../src/store/events.ts';
import { loadMigrations, migrate } from '../../../src/store/sqlite/migrate.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { loadStatements } from '../../../src/store/sqlite/statements.ts';

const sqlite = join(import.meta.dirname, '../../../src/store/sqlite');
const shipped = loadMigrations(join(sqlite, 'migrations'));
let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-migrate-'));
  path = join(directory, 'state.db');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function inspect<T>(file: string, body: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return body(database);
  } finally {
    database.close();
  }
}
const version = (file: string) =>
  inspect(file, (database) => database.prepare('PRAGMA user_version').get()?.['user_version']);

test('a new database gets every migration, mode 0600 and no backup', async () => {
  await (await openSqliteStore({ path, nowMs: 7 })).close();
  expect(version(path)).toBe(shipped.length);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory).filter((name) => name.endsWith('.bak'))).toEqual([]);
});

test('an older database is backed up, then migrated; opening again changes nothing', async () => {
  const store = await openSqliteStore({ path, nowMs: 7 });
  await store.write([eventWrite({ at: 1, type: 'kept', data: {} })]);
  await store.close();
  const next = [...shipped, { number: shipped.length + 1, sql: 'CREATE TABLE added (a TEXT) STRICT' }];
  migrate({ path, migrations: next, nowMs: 8 });
  migrate({ path, migrations: next, nowMs: 9 });
  const backups = readdirSync(directory).filter((name) => name.endsWith('.bak'));
  expect(backups).toEqual([`state.db.v${shipped.length}-8.bak`]);
  expect(version(path)).toBe(shipped.length + 1);
  const backup = join(directory, backups[0] ?? '');
  expect(version(backup)).toBe(shipped.length);
  expect(inspect(backup, (database) => database.prepare('SELECT type FROM events').all())).toHaveLength(1);
});

test('a migration that fails leaves the schema as it was', () => {
  migrate({ path, migrations: shipped, nowMs: 1 });
  const broken = { number: shipped.length + 1, sql: 'CREATE TABLE half (a TEXT) STRICT; CREATE TABLE half (a TEXT)' };
  expect(() => migrate({ path, migrations: [...shipped, broken], nowMs: 2 })).toThrow(/rolled back/);
  expect(version(path)).toBe(shipped.length);
  const tables = inspect(path, (database) => database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'half'").all());
  expect(tables).toEqual([]);
});

test('a newer schema is refused and left untouched', async () => {
  await (await openSqliteStore({ path, nowMs: 1 })).close();
  inspect(path, (database) => database.exec('PRAGMA user_version = 999'));
  const hash = () => createHash('sha256').update(readFileSync(path)).digest('hex');
  const before = hash();
  await expect(openSqliteStore({ path, nowMs: 2 })).rejects.toMatchObject({ code: 'configuration' });
  expect(hash()).toBe(before);
});

test('batches that queue up share a commit', async () => {
  const store = await openSqliteStore({ path, nowMs: 1 });
  await store.write([eventWrite({ at: 1, type: 'warm', data: {} })]);
  const walSize = () => statSync(`${path}-wal`).size;
  const writeOne = (n: number) => store.write([eventWrite({ at: 1, type: `e${n}`, data: {} })]);

  const start = walSize();
  for (let n = 0; n < 50; n++) await writeOne(n);
  const oneByOne = walSize() - start;
  await Promise.all(Array.from({ length: 50 }, (_, n) => writeOne(n)));
  const together = walSize() - start - oneByOne;
  expect(readEvents(store, 0, 1000)).toHaveLength(101);
  await store.close();
  expect(together).toBeLessThan(oneByOne / 5);
});

test('every statement says what it is for and can be prepared', () => {
  migrate({ path, migrations: shipped, nowMs: 1 });
  inspect(path, (database) => {
    for (const statement of loadStatements(join(sqlite, 'sql')).values()) {
      expect(statement.sql, statement.name).toMatch(/^-- \S/);
      expect(() => database.prepare(statement.sql), statement.name).not.toThrow();
    }
  });
});
