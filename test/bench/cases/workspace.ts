import { appendFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import type { Workspace, WorkspacePool } from '../../../src/workspace/workspace.ts';
import { built } from '../built.ts';
import { command, gitStatus, type Place } from '../commands.ts';
import { compare, type Row, timed } from '../measure.ts';

const OWNER = { run: 'r-bench' as RunId, task: 'T1' as TaskId, role: 'coder' as RoleName, attempt: 1 };
const EDITED = ['Lib/keyword.py', 'configure.ac', 'Include/patchlevel.h', 'README.rst', 'Grammar/python.gram'];

/** Snapshots and slots through the workspace room, against git's own commands on the same tree. */
export async function workspaceCases(place: Place, scratch: string, rounds: number): Promise<readonly Row[]> {
  const { pool, start } = await openPool(place, scratch);
  const worktree = path.join(scratch, 'worktree');
  const reuse = await compare({
    name: 'slot reuse after five edits',
    rounds,
    aim: { atMost: 0.3 },
    baseline: {
      what: 'git worktree add',
      unit: 'ms',
      once: async () => {
        const ms = await timed(() => command(place, 'git', ['worktree', 'add', '-q', '--detach', worktree, 'HEAD']));
        await rm(worktree, { recursive: true, force: true });
        await command(place, 'git', ['worktree', 'prune']);
        return ms;
      },
    },
    measured: {
      what: 'acquire',
      unit: 'ms',
      once: async () => {
        let workspace: Workspace | undefined;
        const ms = await timed(async () => {
          workspace = await pool.acquire(OWNER, start);
        });
        if (workspace === undefined) throw new Error('no slot was free');
        for (const file of EDITED) await appendFile(path.join(workspace.root, file), 'edited\n');
        await workspace.release();
        return ms;
      },
    },
  });
  return [await snapshots(place, pool, start, rounds, 0), await snapshots(place, pool, start, rounds, 1), reuse];
}

async function snapshots(
  place: Place,
  pool: WorkspacePool,
  start: { commit: ObjectId; tree: ObjectId },
  rounds: number,
  edits: 0 | 1,
): Promise<Row> {
  const workspace = await pool.acquire(OWNER, start);
  if (workspace === undefined) throw new Error('no slot was free');
  try {
    await workspace.snapshot();
    return await compare({
      name: edits === 0 ? 'warm snapshot, nothing changed' : 'warm snapshot after one edit',
      rounds: rounds * 2,
      ...(edits === 0 ? { aim: { atMost: 2 } } : {}),
      baseline: gitStatus(place),
      measured: {
        what: 'snapshot',
        unit: 'ms',
        once: async () => {
          if (edits === 1) await appendFile(path.join(workspace.root, 'Lib/keyword.py'), 'edited\n');
          return timed(() => workspace.snapshot());
        },
      },
    });
  } finally {
    await workspace.release();
  }
}

async function openPool(place: Place, scratch: string) {
  const clock = { now: Date.now };
  const commit = (await command(place, 'git', ['rev-parse', 'HEAD'])).trim() as ObjectId;
  const { openStoreGit } = await built.storeGit();
  const { openWorkspacePool } = await built.pool();
  await mkdir(scratch, { recursive: true });
  const store = await openStoreGit({
    directory: path.join(scratch, 'store.git'),
    userObjects: path.join(place.cwd, '.git/objects'),
    searchPath: place.env['PATH'] ?? '/usr/bin:/bin',
  });
  const pool = await openWorkspacePool({
    directory: path.join(scratch, 'workspaces'),
    slots: 1,
    store,
    stagingFor: () => path.join(scratch, 'staging'),
    clock,
    isNever: () => false,
    ignoreBaseTree: async () => undefined,
    searchPath: place.env['PATH'] ?? '/usr/bin:/bin',
  });
  return { pool, start: { commit, tree: await store.treeOf(commit) } };
}
