import { join } from 'node:path';
import type { ObjectId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import type { StoreGit } from '../../../src/git/git.ts';
import { openWorkspacePool } from '../../../src/workspace/pool.ts';
import type { Owner, Workspace, WorkspacePool } from '../../../src/workspace/workspace.ts';
import { CLOCK, makeRepository, openDoors, type ScratchRepository } from '../git/scratch-repository.ts';

export interface ScratchPool {
  readonly scratch: ScratchRepository;
  readonly store: StoreGit;
  readonly pool: WorkspacePool;
  readonly start: { readonly commit: ObjectId; readonly tree: ObjectId };
  acquire(options?: { commit?: ObjectId; tree?: ObjectId; owner?: Owner }): Promise<Workspace>;
}

export const OWNER: Owner = { run: 'r-1' as RunId, task: 'T1' as TaskId, role: 'coder' as RoleName, attempt: 1 };

/** The never-list of these tests. */
export function isNever(path: RepoPath): boolean {
  return /(^|\/)\.env$/.test(path) || path.startsWith('policies/');
}

export async function makePool(
  files: Readonly<Record<string, string>>,
  options: { slots?: number; ignoreBase?: () => ObjectId | undefined } = {},
): Promise<ScratchPool> {
  const scratch = makeRepository(files);
  const { store, user } = await openDoors(scratch);
  const { commit } = await user.head();
  const start = { commit, tree: await store.treeOf(commit) };
  const pool = await openWorkspacePool({
    directory: join(scratch.base, 'state/workspaces'),
    slots: options.slots ?? 1,
    store,
    stagingFor: (run) => join(scratch.base, 'state/runs', run, 'staging'),
    clock: CLOCK,
    isNever,
    ignoreBaseTree: async () => options.ignoreBase?.(),
    shallowFile: join(user.commonDirectory, 'shallow'),
    searchPath: scratch.environment['PATH'] ?? '',
  });
  const acquire: ScratchPool['acquire'] = async (given = {}) => {
    const workspace = await pool.acquire(given.owner ?? OWNER, {
      commit: given.commit ?? start.commit,
      tree: given.tree ?? start.tree,
    });
    if (workspace === undefined) throw new Error('no slot is free');
    return workspace;
  };
  return { scratch, store, pool, start, acquire };
}
