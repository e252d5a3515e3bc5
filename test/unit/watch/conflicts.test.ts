import { describe, expect, it } from 'vitest';
import type { ObjectId, TaskId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { checkoutChanges } from '../../../src/watch/checkout-changes.ts';
import { findOverlaps, findTextualConflicts, type LineRange, type LiveChanges } from '../../../src/watch/conflicts.ts';

const a = 'lib/a.py' as RepoPath;
const b = 'lib/b.py' as RepoPath;
const T1 = 'T1' as TaskId;
const T2 = 'T2' as TaskId;

function live(task: TaskId | undefined, role: string, paths: [RepoPath, LineRange[] | undefined][]): LiveChanges {
  return { task, role, paths: new Map(paths) };
}

describe('overlaps', () => {
  it('are the same path in two tasks, or in a task and the checkout', () => {
    const found = findOverlaps([
      live(T1, 'coder', [
        [a, undefined],
        [b, undefined],
      ]),
      live(T2, 'coder', [[a, undefined]]),
      live(undefined, 'human', [[b, undefined]]),
    ]);
    expect(found).toEqual([
      { kind: 'overlap', path: a, tasks: [T1, T2], roles: ['coder', 'coder'] },
      { kind: 'overlap', path: b, tasks: [T1], roles: ['coder', 'human'] },
    ]);
  });

  it('are not found between steps of one task', () => {
    expect(findOverlaps([live(T1, 'coder', [[a, undefined]]), live(T1, 'test', [[a, undefined]])])).toEqual([]);
  });

  it.each([
    [[{ first: 1, last: 5 }], [{ first: 5, last: 9 }], true],
    [[{ first: 1, last: 5 }], [{ first: 6, last: 9 }], true],
    [[{ first: 1, last: 5 }], [{ first: 7, last: 9 }], false],
    [[{ first: 7, last: 9 }], [{ first: 1, last: 5 }], false],
    [[{ first: 1, last: 1 }], undefined, true],
    [[], [{ first: 1, last: 1 }], false],
  ])('go by lines where both are known: %j %j', (left, right, expected) => {
    const found = findOverlaps([live(T1, 'coder', [[a, left]]), live(T2, 'coder', [[a, right]])]);
    expect(found.length > 0).toBe(expected);
  });
});

describe('textual conflicts', () => {
  it('come from the merge of each pair of tasks', async () => {
    const commit = (name: string) => name as ObjectId;
    const asked: string[] = [];
    const found = await findTextualConflicts(
      [
        { task: T1, role: 'coder', commit: commit('1') },
        { task: T2, role: 'test', commit: commit('2') },
        { task: 'T3' as TaskId, role: 'coder', commit: commit('3') },
      ],
      async (ours, theirs) => {
        asked.push(`${ours}${theirs}`);
        return ours === '1' && theirs === '2' ? { clean: false, paths: [a] } : { clean: true };
      },
    );
    expect(asked).toEqual(['12', '13', '23']);
    expect(found).toEqual([{ kind: 'textual', path: a, tasks: [T1, T2], roles: ['coder', 'test'] }]);
  });
});

describe('checkout changes', () => {
  it('tell what appeared, changed and went', () => {
    const before = new Map([
      [a, '1'],
      [b, '1'],
      ['gone' as RepoPath, '1'],
    ]);
    const after = new Map([
      [a, '2'],
      [b, '1'],
      ['new' as RepoPath, '1'],
    ]);
    expect(checkoutChanges(before, after)).toEqual([
      { path: a, kind: 'changed' },
      { path: 'new', kind: 'appeared' },
      { path: 'gone', kind: 'cleared' },
    ]);
  });
});
