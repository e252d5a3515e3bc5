import type { RunId } from '../domain/ids.ts';
import type { Conflict, Resolution, Violation } from '../domain/violation.ts';
import { eventWrite } from '../store/events.ts';
import type { Row, Store, Write } from '../store/store.ts';
import { pathFromColumn, pathToColumn } from './path-column.ts';

/** Row and event of a violation; the event lets `watch` and the agent's log show it. */
export function violationWrites(violation: Violation): readonly Write[] {
  const { id, run, task, role, path, detectedAt, ...data } = violation;
  const column = pathToColumn(path);
  return [
    {
      statement: 'violation-insert',
      params: {
        id,
        run: run ?? null,
        task: task ?? null,
        role: role ?? null,
        path: column,
        detected_at: detectedAt,
        data: JSON.stringify(data),
      },
    },
    eventWrite({
      at: detectedAt,
      type: 'violation-recorded',
      run,
      task,
      role,
      data: { violation: id, path, ...data },
    }),
  ];
}

/** What became of it later, say `approved` after a checkpoint. */
export function violationResolutionWrites(options: {
  id: string;
  resolution: Resolution;
  at: number;
}): readonly Write[] {
  const { id, resolution, at } = options;
  return [
    { statement: 'violation-resolve', params: { id, resolution }, expectChanges: 1 },
    eventWrite({ at, type: 'violation-resolved', data: { violation: id, resolution } }),
  ];
}

/** Oldest first. */
export function readViolations(store: Store, options: { run?: RunId } = {}): readonly Violation[] {
  return store.read('violation-list', { run: options.run ?? null }).map(violationFromRow);
}

export function conflictWrites(conflict: Conflict, at: number): readonly Write[] {
  const { id, run, path, state, ...data } = conflict;
  return [
    {
      statement: 'conflict-insert',
      params: { id, run, path: pathToColumn(path), state, at, data: JSON.stringify(data) },
    },
    eventWrite({ at, type: 'conflict-recorded', run, data: { conflict: id, path, state, ...data } }),
  ];
}

/** `waiting`: the later task waits for the other. Guarded: a conflict that is resolved stays so. */
export function conflictStateWrites(options: {
  id: string;
  run: RunId;
  state: 'waiting' | 'resolved';
  at: number;
}): readonly Write[] {
  const { id, run, state, at } = options;
  return [
    { statement: 'conflict-resolve', params: { id, state }, expectChanges: 1 },
    eventWrite({ at, type: `conflict-${state}`, run, data: { conflict: id } }),
  ];
}

/** Oldest first. */
export function readConflicts(store: Store, options: { run?: RunId } = {}): readonly Conflict[] {
  return store.read('conflict-list', { run: options.run ?? null }).map(conflictFromRow);
}

/** Rows are written by the functions above alone, which is what makes the assertions true. */
function violationFromRow(row: Row): Violation {
  return {
    ...JSON.parse(String(row['data'])),
    id: row['id'],
    ...(row['run'] === null ? {} : { run: row['run'] }),
    ...(row['task'] === null ? {} : { task: row['task'] }),
    ...(row['role'] === null ? {} : { role: row['role'] }),
    path: pathFromColumn(String(row['path'])),
    detectedAt: row['detected_at'],
  } as Violation;
}

function conflictFromRow(row: Row): Conflict {
  return {
    ...JSON.parse(String(row['data'])),
    id: row['id'],
    run: row['run'],
    path: pathFromColumn(String(row['path'])),
    state: row['state'],
  } as Conflict;
}
