import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrchestratorError } from '../../domain/errors.ts';
import { pathFromBytes, pathToBytes, type RepoPath, splitNul } from '../../domain/path.ts';
import type { PolicyIo } from './policy-io.ts';

/** The checkout around the current directory, read only. */
export interface Checkout {
  readonly root: string;
  readonly policies: string;
  trackedPaths(): Promise<readonly RepoPath[]>;
  /** Those of `paths` that `.gitattributes` of HEAD mark `linguist-generated`. */
  generatedAmong(paths: readonly RepoPath[]): Promise<ReadonlySet<RepoPath>>;
  /** Whether this volume takes `A` and `a` for one name. */
  foldsCase(): Promise<boolean>;
}

export async function openCheckout(io: PolicyIo): Promise<Checkout> {
  const top = await git(io, io.cwd, ['rev-parse', '--show-toplevel']);
  if (top.exitCode !== 0) {
    throw new OrchestratorError('configuration', explain(top.message.trim(), io.cwd));
  }
  const root = top.stdout.toString('utf8').replace(/\n$/u, '');
  return {
    root,
    policies: join(root, 'policies'),
    async trackedPaths() {
      const listed = await git(io, root, ['ls-files', '-z']);
      return splitNul(mustSucceed(listed, 'git ls-files')).map(pathFromBytes);
    },
    generatedAmong: (paths) => readGenerated(io, root, paths),
    async foldsCase() {
      const setting = await git(io, root, ['config', '--type=bool', 'core.ignorecase']);
      return setting.stdout.toString('utf8').trim() === 'true';
    },
  };
}

function explain(reason: string, cwd: string): string {
  if (reason !== '' && !/not a git repository/i.test(reason)) {
    return `git cannot use the repository at ${cwd}: ${reason}`;
  }
  return `${cwd} is not inside a git work tree: go to your checkout, name it with -C, or judge by --profile`;
}

interface GitResult {
  readonly exitCode: number | undefined;
  readonly stdout: Buffer;
  readonly message: string;
}

async function git(
  io: PolicyIo,
  cwd: string,
  command: readonly string[],
  extra: { readonly input?: Buffer; readonly index?: string } = {},
): Promise<GitResult> {
  const { execa } = await import('execa');
  // A hook that calls us means the directory, not its own GIT_DIR; reading must take no lock.
  const kept = Object.entries(io.env).filter(([name]) => !name.startsWith('GIT_'));
  const result = await execa('git', command, {
    cwd,
    env: {
      ...Object.fromEntries(kept),
      GIT_OPTIONAL_LOCKS: '0',
      ...(extra.index === undefined ? {} : { GIT_INDEX_FILE: extra.index }),
    },
    extendEnv: false,
    encoding: 'buffer',
    reject: false,
    ...(extra.input === undefined ? { stdin: 'ignore' as const } : { input: extra.input }),
  });
  return {
    exitCode: result.exitCode,
    stdout: Buffer.from(result.stdout),
    message: Buffer.from(result.stderr).toString('utf8'),
  };
}

function mustSucceed(result: GitResult, command: string): Buffer {
  if (result.exitCode === 0) return result.stdout;
  throw new OrchestratorError('failed', `${command} failed: ${result.message.trim() || 'git could not be started'}`);
}

/** Attributes come from an index of our own that holds HEAD, so neither local edits nor the user's index count. */
async function readGenerated(io: PolicyIo, root: string, paths: readonly RepoPath[]): Promise<ReadonlySet<RepoPath>> {
  const head = await git(io, root, ['rev-parse', '--verify', '--quiet', 'HEAD^{tree}']);
  if (head.exitCode !== 0 || paths.length === 0) return new Set();
  const index = join(tmpdir(), `orchestrator-attributes-${randomUUID()}`);
  try {
    mustSucceed(await git(io, root, ['read-tree', 'HEAD'], { index }), 'git read-tree');
    const input = Buffer.concat(paths.flatMap((path) => [pathToBytes(path), Buffer.of(0)]));
    const command = ['check-attr', '--cached', '-z', '--stdin', 'linguist-generated'];
    const fields = splitNul(mustSucceed(await git(io, root, command, { index, input }), 'git check-attr'));
    const generated = new Set<RepoPath>();
    for (let at = 0; at + 2 < fields.length; at += 3) {
      const value = fields[at + 2]?.toString('utf8');
      const path = fields[at];
      if (path !== undefined && (value === 'set' || value === 'true')) generated.add(pathFromBytes(path));
    }
    return generated;
  } finally {
    await rm(index, { force: true });
  }
}
