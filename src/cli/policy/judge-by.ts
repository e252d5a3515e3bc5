import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, OrchestratorError } from '../../domain/errors.ts';
import type { RoleName } from '../../domain/ids.ts';
import { pathToBytes, type RepoPath } from '../../domain/path.ts';
import type { Generator } from '../../policy/generators.ts';
import type { Decider } from '../../policy/policy.ts';
import { openCheckout } from './checkout.ts';
import { loadPoliciesOrThrow } from './load-policies.ts';
import type { PolicyIo } from './policy-io.ts';

/** The enforcer's matcher with what a person may ask it about. */
export interface Judge {
  readonly decider: Decider;
  readonly roles: readonly RoleName[];
  readonly generators: readonly Generator[];
  resolve(nameOrAlias: string): RoleName | undefined;
  /** Whether the path is tracked or on disk. */
  exists(path: RepoPath): boolean;
}

/** The policies of the checkout, its tracked paths, and the attributes of HEAD. */
export async function judgeByCheckout(
  io: PolicyIo,
  paths: readonly RepoPath[],
  variables: ReadonlyMap<string, string>,
): Promise<Judge> {
  const checkout = await openCheckout(io);
  const set = await loadPoliciesOrThrow(io, checkout, variables);
  const { compileDecider } = await import('../../policy/decide.ts');
  const { resolveRole } = await import('../../policy/start-check.ts');
  const tracked = new Set(await checkout.trackedPaths());
  const generated = await checkout.generatedAmong(paths);
  return {
    decider: compileDecider(set, generated, { foldCase: await checkout.foldsCase() }),
    roles: [...set.roles.keys()],
    generators: set.global.generated.sources,
    resolve: (name) => resolveRole(set, name)?.role,
    exists: (path) => tracked.has(path) || isOnDisk(checkout.root, path),
  };
}

/** A shipped profile, outside of any repository too: no attributes, no paths. */
export async function judgeByProfile(io: PolicyIo, name: string, varsFile: string | undefined): Promise<Judge> {
  const { profileNamed, readProfile } = await import('../../policy/profile-file.ts');
  const { shippedProfile } = await import('../../policy/shipped-profile.ts');
  const { compileDecider } = await import('../../policy/decide.ts');
  const { expandGenerators } = await import('../../policy/generators.ts');
  const vars = varsFile === undefined ? {} : await readVariables(resolve(io.cwd, varsFile));
  const profile = shippedProfile(profileNamed(name), vars);
  const roles = PROFILE_ROLES.filter((role) => profile.roles.has(role));
  return {
    decider: compileDecider(profile, new Set()),
    roles,
    generators: expandGenerators(readProfile(profile.name).content.generated?.sources ?? [], profile.vars),
    resolve: (written) => roles.find((role) => role === written),
    exists: () => false,
  };
}

const PROFILE_ROLES = ['planner', 'coder', 'reviewer', 'test'] as readonly string[] as readonly RoleName[];

function isOnDisk(root: string, path: RepoPath): boolean {
  const bytes = Buffer.concat([Buffer.from(join(root, '/')), pathToBytes(path)]);
  try {
    return lstatSync(bytes, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A name that is too long for the volume is not there either.
    return false;
  }
}

async function readVariables(file: string): Promise<Readonly<Record<string, readonly string[]>>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new OrchestratorError('usage', `--vars ${file}: cannot be read as JSON (${messageOf(cause)})`, { cause });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw notLists(file);
  const lists: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(parsed)) {
    // The hash that `init` keeps beside the lists.
    if (name === 'inventory') continue;
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) throw notLists(file);
    lists[name] = value;
  }
  return lists;
}

function notLists(file: string): OrchestratorError {
  return new OrchestratorError('usage', `--vars ${file}: expected an object of lists of paths, {"code": ["src"]}`);
}
