import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import { detectProfile } from '../policy/detect.ts';
import type { PolicySet } from '../policy/policy.ts';
import type { Engine } from './engine.ts';

/** Says when the directories that `init` saw are not those of the base tree: stale variables block or allow wrongly. */
export async function inventoryNote(
  engine: Engine,
  policies: PolicySet,
  baseTree: ObjectId,
): Promise<readonly string[]> {
  const known = policies.global.inventory;
  if (known === undefined) return [];
  const entries = await engine.git.listTree(baseTree);
  const blobs = new Map(entries.map((entry) => [entry.path as string, entry.blob]));
  const detection = await detectProfile({
    paths: entries.map((entry) => entry.path),
    readText: async (path) => {
      const blob = blobs.get(path as RepoPath);
      return blob === undefined ? undefined : (await engine.git.readBlob(blob)).toString('utf8');
    },
  });
  if (detection.hash === known) return [];
  return [
    `the layout of the repository differs from the inventory in policies/global.yaml (detected: ${detection.profile}); ` +
      'look at `vars:` there, or move policies/ aside and run `orchestrator init` again',
  ];
}
