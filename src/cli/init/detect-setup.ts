import type { UserRepository } from '../../git/git.ts';
import type { ProfileName } from '../../policy/profile-file.ts';
import type { Io } from '../io.ts';
import { readBaseTree } from './base-tree.ts';
import { findPython, findPythonOfVersion } from './python.ts';
import { chooseVerifyCommands, roleTestCommand, type VerifyCommands, type VerifyFacts } from './verify-commands.ts';

/** What `init` found out about a repository. */
export interface Setup {
  readonly profile: ProfileName;
  readonly vars: Readonly<Record<string, readonly string[]>>;
  readonly inventoryHash: string;
  readonly notes: readonly string[];
  readonly verify: VerifyCommands;
  /** Runs the tests that are named after it; the roles may use it. */
  readonly testCommand: string | undefined;
}

/** Detects from the tree of HEAD; `chosen` overrides the profile, never the inventory. */
export async function detectSetup(io: Io, user: UserRepository, chosen: string | undefined): Promise<Setup> {
  const [{ detectProfile }, { profileNamed }, { userEnvironment }] = await Promise.all([
    import('../../policy/detect.ts'),
    import('../../policy/profile-file.ts'),
    import('../../git/user-environment.ts'),
  ]);
  const named = chosen === undefined ? undefined : profileNamed(chosen);
  const tree = await readBaseTree(user.root, userEnvironment(io.env));
  const detection = await detectProfile(tree);
  const profile = named ?? detection.profile;
  const version = profile === 'cpython' ? cpythonVersion(await tree.readText('Include/patchlevel.h')) : undefined;
  const own = version === undefined ? undefined : await findPythonOfVersion(user.root, io.env, version);
  const python = profile === 'generic' ? undefined : (own ?? (await findPython(user.root, io.env)));
  const { vars } = detection;
  const facts: VerifyFacts = { profile, vars, paths: tree.paths, python, cpythonVersion: version };
  return {
    profile,
    vars,
    inventoryHash: detection.hash,
    notes: [...detection.notes, ...(profile !== 'generic' && python === undefined ? [NO_PYTHON] : [])],
    verify: chooseVerifyCommands(facts),
    testCommand: roleTestCommand(facts),
  };
}

/** `3.11.2` out of Include/patchlevel.h. */
function cpythonVersion(header: string | undefined): string | undefined {
  return /#define\s+PY_VERSION\s+"(\d+\.\d+\.\d+)/.exec(header ?? '')?.[1];
}

const NO_PYTHON = 'no Python on PATH: verify commands are left empty, set them in policies/global.yaml';

/** The inventory, for the person to confirm. */
export function inventoryLines(setup: Setup): readonly string[] {
  const vars = Object.entries(setup.vars).filter(([, values]) => values.length > 0);
  const verify = Object.entries(setup.verify);
  return [
    `profile   ${setup.profile}`,
    ...vars.map(([name, values]) => `${name.padEnd(9)} ${values.join(', ')}`),
    ...(verify.length === 0
      ? ['verify    nothing found to run']
      : verify.map(([name, command]) => `verify ${name}: ${command}`)),
    ...setup.notes.map((note) => `note: ${note}`),
  ];
}
