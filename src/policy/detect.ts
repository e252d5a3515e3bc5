import { findProjects, type Project } from './code-roots.ts';
import { digestOf } from './digest.ts';
import { type Inventory, takeInventory } from './inventory.ts';
import { findGenerated, findNotTests, findVendored } from './layout-hints.ts';
import { CONTROL_DIRECTORIES } from './layout-names.ts';
import { type ListVariables, literalGlob } from './list-variables.ts';
import type { ProfileName } from './profile-file.ts';
import type { ReadText } from './project-metadata.ts';
import { coveredCodeRoots } from './shipped-profile.ts';
import { indexTree, type TreeIndex } from './tree-index.ts';

export interface Detection {
  readonly profile: ProfileName;
  /** Values are globs: special characters in real names are escaped. */
  readonly vars: ListVariables;
  /** Of the layout (code, tests, proj, other): when it differs at a run's start, the variables are stale. */
  readonly hash: string;
  /** What a person should look at before confirming. */
  readonly notes: readonly string[];
}

/** Finds the profile and its variables in a base tree. Reads only packaging files and files that look generated. */
export async function detectProfile(input: {
  readonly paths: readonly string[];
  readonly readText: ReadText;
}): Promise<Detection> {
  const tree = indexTree(input.paths);
  if (tree.has('Include/patchlevel.h') && tree.has('Grammar/python.gram')) return found(tree, 'cpython', NOTHING, []);
  const projects = await projectsOf(tree, input.readText);
  const inventory = takeInventory(tree, projects);
  const profile = profileOf(projects);
  const covered = coveredCodeRoots(profile, { code: inventory.code });
  const notes = covered.map(
    (root) => `${root} holds code but has the name of a side directory: the coder has to ask there`,
  );
  if (profile === 'generic') notes.push('no Python layout was recognised: name the code directories under vars.code');
  const notTests = findNotTests(tree, inventory.code);
  for (const directory of notTests)
    notes.push(`${directory} has no test modules, so it counts as code (vars.not_tests)`);
  const vendored = findVendored(tree, inventory.code);
  const generated = await findGenerated(tree, inventory.code, input.readText);
  for (const path of generated) notes.push(`${path} says that it is generated, so no role writes it (vars.generated)`);
  return found(tree, profile, inventory, notes, {
    not_tests: notTests.map((directory) => `${literalGlob(directory)}/**`),
    vendored: vendored.map(literalGlob),
    generated: generated.map(literalGlob),
  });
}

const NOTHING: Inventory = { code: [], mods: [], tests: [], proj: [], other: [] };
const NO_HINTS = { not_tests: [], vendored: [], generated: [] };

async function projectsOf(tree: TreeIndex, readText: ReadText): Promise<readonly Project[]> {
  const top = tree.childDirectories('');
  // Type stub collections: every directory below stubs/ has a project file of another project.
  if (top.includes('stubs') && top.includes('stdlib')) {
    return [{ root: '', kind: 'flat', code: ['stdlib', 'stubs'], modules: [] }];
  }
  return findProjects(tree, readText);
}

function profileOf(projects: readonly Project[]): ProfileName {
  if (projects.some((project) => project.root !== '' && project.code.length > 0)) return 'python-mono';
  const kind = projects.find((project) => project.root === '')?.kind;
  return kind === undefined ? 'generic' : `python-${kind}`;
}

function found(
  tree: TreeIndex,
  profile: ProfileName,
  inventory: Inventory,
  notes: readonly string[],
  hints: ListVariables = NO_HINTS,
): Detection {
  const { code, tests, proj, other } = inventory;
  const layout = profile === 'cpython' ? topDirectories(tree) : { code, tests, proj, other };
  const names = Object.entries(inventory).map(([name, values]) => [name, values.map(literalGlob)]);
  return {
    profile,
    vars: { ...Object.fromEntries(names), ...hints },
    hash: `sha256:${digestOf(layout)}`,
    notes,
  };
}

function topDirectories(tree: TreeIndex): readonly string[] {
  return tree.childDirectories('').filter((name) => !CONTROL_DIRECTORIES.has(name));
}
