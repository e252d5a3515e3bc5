import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveStateDirectory } from '../../../src/store/state-directory.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'orch-state-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function repository(name = 'my repo'): { repositoryRoot: string; commonDirectory: string } {
  const repositoryRoot = join(home, name);
  const commonDirectory = join(repositoryRoot, '.git');
  mkdirSync(commonDirectory, { recursive: true });
  return { repositoryRoot, commonDirectory };
}

test('makes the id once and private directories under the state home', () => {
  const options = { environment: {}, homeDirectory: home, ...repository(), create: true };
  const first = resolveStateDirectory(options);
  const id = readFileSync(join(options.commonDirectory, 'orchestrator-id'), 'utf8').trim();
  expect(id).toMatch(/^[a-z0-9]{8}$/);
  expect(first.directory).toBe(join(home, '.local/state/orchestrator', `my-repo-${id}`));
  expect(statSync(first.directory).mode & 0o777).toBe(0o700);
  expect(statSync(first.workspaces).isDirectory()).toBe(true);
  expect(resolveStateDirectory({ ...options, create: false })).toEqual(first);
});

test('a moved and renamed repository finds its state, and so does a linked worktree', () => {
  const options = {
    environment: { XDG_STATE_HOME: join(home, 'xdg') },
    homeDirectory: home,
    ...repository(),
    create: true,
  };
  const before = resolveStateDirectory(options);
  renameSync(options.repositoryRoot, join(home, 'renamed'));
  const moved = { repositoryRoot: join(home, 'renamed'), commonDirectory: join(home, 'renamed', '.git') };
  expect(resolveStateDirectory({ ...options, ...moved }).directory).toBe(before.directory);
  const linked = { ...moved, repositoryRoot: join(home, 'linked') };
  expect(resolveStateDirectory({ ...options, ...linked }).directory).toBe(before.directory);
});

test('without create nothing is made and the missing set-up is named', () => {
  const options = { environment: {}, homeDirectory: home, ...repository(), create: false };
  expect(() => resolveStateDirectory(options)).toThrow(/orchestrator init/);
  expect(existsSync(join(options.commonDirectory, 'orchestrator-id'))).toBe(false);
  writeFileSync(join(options.commonDirectory, 'orchestrator-id'), '../../evil\n');
  expect(() => resolveStateDirectory(options)).toThrow(/8 characters/);
});

test('ORCHESTRATOR_STATE_DIR wins and must be absolute', () => {
  const options = { homeDirectory: home, ...repository(), create: false };
  const chosen = join(home, 'chosen');
  expect(resolveStateDirectory({ ...options, environment: { ORCHESTRATOR_STATE_DIR: chosen } }).db).toBe(
    join(chosen, 'state.db'),
  );
  expect(() => resolveStateDirectory({ ...options, environment: { ORCHESTRATOR_STATE_DIR: 'here' } })).toThrow(
    /absolute/,
  );
});

test('sockets move to a private runtime directory when their path is too long', () => {
  const environment = { ORCHESTRATOR_STATE_DIR: join(home, 'd'.repeat(90)), XDG_RUNTIME_DIR: join(home, 'r') };
  const options = { environment, homeDirectory: home, ...repository(), create: true };
  const state = resolveStateDirectory(options);
  expect(state.socket.startsWith(join(home, 'r/orchestrator/'))).toBe(true);
  expect(Buffer.byteLength(state.gatewaySocket)).toBeLessThanOrEqual(100);
  expect(statSync(dirname(state.socket)).mode & 0o777).toBe(0o700);
  const short = { ...options, environment: { ORCHESTRATOR_STATE_DIR: join(home, 's') } };
  expect(resolveStateDirectory(short).socket).toBe(join(home, 's/daemon.sock'));
});
