import type { Change } from '../domain/decision.ts';
import type { CheckpointId, RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Store, Write } from '../store/store.ts';
import { pathFromColumn, pathToColumn } from './path-column.ts';

/** What a human allowed. `access`: the path may be written in this task. `content`: exactly this (see contentKey). */
export interface GrantRecord {
  readonly task: TaskId;
  readonly role: RoleName;
  readonly path: RepoPath;
  readonly kind: 'access' | 'content';
  readonly blob: string;
}

/**
 * What a content grant names: the blob of an ordinary file, '' for a deletion, `<mode>:<blob>` for everything else.
 * The mode is part of it since an approved text could otherwise come back as a symlink or a program.
 */
export function contentKey(change: Pick<Change, 'operation' | 'newMode' | 'newBlob'>): string {
  if (change.operation === 'delete') return '';
  return change.newMode === '100644' ? change.newBlob : `${change.newMode}:${change.newBlob}`;
}

export function grantWrites(options: {
  run: RunId;
  checkpoint: CheckpointId;
  at: number;
  grants: readonly GrantRecord[];
}): readonly Write[] {
  return options.grants.map((grant) => ({
    statement: 'grant-insert',
    params: {
      run: options.run,
      task: grant.task,
      path: pathToColumn(grant.path),
      kind: grant.kind,
      blob: grant.blob,
      role: grant.role,
      checkpoint: options.checkpoint,
      at: options.at,
    },
  }));
}

export function readGrants(store: Store, run: RunId): readonly GrantRecord[] {
  return store.read('grant-list', { run }).map((row) => ({
    task: row['task'] as TaskId,
    role: row['role'] as RoleName,
    path: pathFromColumn(String(row['path'])),
    kind: row['kind'] as GrantRecord['kind'],
    blob: String(row['blob']),
  }));
}
