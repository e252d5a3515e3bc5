import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import { socketPathFor } from './socket-path.ts';

export interface StateDirectory {
  readonly directory: string;
  /** Keys, mode 0600. */
  readonly env: string;
  readonly db: string;
  readonly lock: string;
  readonly daemonJson: string;
  /** The control socket. */
  readonly socket: string;
  /** The gateway's socket; in a directory of its own, since it alone is bound into views. */
  readonly gatewaySocket: string;
  /** The daemon's bare git directory. */
  readonly store: string;
  readonly logs: string;
  readonly runs: string;
  readonly workspaces: string;
  readonly homes: string;
  readonly policiesBackup: string;
  readonly notesBackup: string;
}

export interface StateDirectoryOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  /** Top of the user's work tree. */
  readonly repositoryRoot: string;
  /** `git rev-parse --git-common-dir`, absolute. */
  readonly commonDirectory: string;
  /** Make the id and the directories (mode 0700); otherwise a repository without an id is an error. */
  readonly create: boolean;
}

/**
 * Where a repository's state lives: `$ORCHESTRATOR_STATE_DIR`, else `<state home>/orchestrator/<name>-<id>`. The id is
 * in `<common dir>/orchestrator-id`, so that a repository that was moved or renamed still finds its directory.
 */
export function resolveStateDirectory(options: StateDirectoryOptions): StateDirectory {
  const directory = chosenDirectory(options.environment) ?? directoryById(options);
  const { directory: socketDirectory, create: createSockets } = socketPathFor(directory, options.environment);
  const paths: StateDirectory = {
    directory,
    env: join(directory, '.env'),
    db: join(directory, 'state.db'),
    lock: join(directory, 'lock.db'),
    daemonJson: join(directory, 'daemon.json'),
    socket: join(socketDirectory, 'daemon.sock'),
    gatewaySocket: join(socketDirectory, 'gateway', 'gateway.sock'),
    store: join(directory, 'store.git'),
    logs: join(directory, 'logs'),
    runs: join(directory, 'runs'),
    workspaces: join(directory, 'workspaces'),
    homes: join(directory, 'homes'),
    policiesBackup: join(directory, 'policies.bak'),
    notesBackup: join(directory, 'notes.bak'),
  };
  if (options.create) {
    for (const path of [directory, paths.logs, paths.runs, paths.workspaces, paths.homes]) makePrivate(path);
    createSockets();
    makePrivate(dirname(paths.gatewaySocket));
  }
  return paths;
}

function chosenDirectory(environment: StateDirectoryOptions['environment']): string | undefined {
  const chosen = environment['ORCHESTRATOR_STATE_DIR'];
  if (chosen === undefined || chosen === '') return undefined;
  if (isAbsolute(chosen)) return chosen;
  throw new OrchestratorError('configuration', `ORCHESTRATOR_STATE_DIR is "${chosen}"; give an absolute path.`);
}

function directoryById(options: StateDirectoryOptions): string {
  const xdg = options.environment['XDG_STATE_HOME'];
  const home = xdg !== undefined && isAbsolute(xdg) ? xdg : join(options.homeDirectory, '.local', 'state');
  const parent = join(home, 'orchestrator');
  const id = repositoryId(options);
  return join(parent, existingDirectory(parent, id) ?? `${repositoryName(options)}-${id}`);
}

function repositoryId(options: StateDirectoryOptions): string {
  const file = join(options.commonDirectory, 'orchestrator-id');
  const id = readIfThere(file) ?? (options.create ? createId(file) : undefined);
  if (id === undefined) {
    throw new OrchestratorError(
      'configuration',
      `${options.repositoryRoot} is not set up: ${file} does not exist. Run "orchestrator init" there first.`,
    );
  }
  if (/^[a-z0-9]{8}$/.test(id)) return id;
  throw new OrchestratorError(
    'configuration',
    `${file} should hold 8 characters out of a-z and 0-9; it holds "${id}".`,
  );
}

/** Linking a finished file makes two first starts agree on one id. */
function createId(file: string): string {
  // Loaded only here, see socketPathFor.
  const { randomInt } = process.getBuiltinModule('node:crypto');
  const id = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const draft = `${file}.${id}`;
  writeFileSync(draft, `${id}\n`);
  try {
    linkSync(draft, file);
    return id;
  } catch (error) {
    const other = readIfThere(file);
    if (other === undefined) throw error;
    return other;
  } finally {
    rmSync(draft, { force: true });
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The directory that carries this id under whatever name the repository had when it was made. */
function existingDirectory(parent: string, id: string): string | undefined {
  try {
    return readdirSync(parent).find((name) => name.endsWith(`-${id}`));
  } catch {
    return undefined;
  }
}

/** Named after the main work tree, so that every linked worktree finds the same directory. */
function repositoryName(options: StateDirectoryOptions): string {
  const common = options.commonDirectory;
  const name = basename(basename(common) === '.git' ? dirname(common) : options.repositoryRoot);
  return name.replace(/[^A-Za-z0-9._-]/g, '-') || 'repository';
}

function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}
