import { expect, test } from 'vitest';
import type { ObjectId, TaskId } from '../../../src/domain/ids.ts';
import type { StoreGit } from '../../../src/git/git.ts';
import { openLiveTrees } from '../../../src/scheduler/live.ts';
import { RUN, role } from './fixtures.ts';

/** Every tree changes the one path to a content of its own, and no merge goes through. */
const git = {
  diff: async (_from: ObjectId, to: ObjectId) => [{ path: 'a.py', newMode: '100644', newBlob: `blob ${to}` }],
  commit: async ({ tree }: { tree: ObjectId }) => tree,
  merge: async () => ({ clean: false, paths: ['a.py'] }),
} as unknown as StoreGit;

test('two tasks that end their turns together meet once', async () => {
  const met: string[] = [];
  const live = openLiveTrees({
    git,
    isIndependent: () => met.length === 0,
    onOverlap: async ({ tasks, kind }) => {
      await Promise.resolve();
      met.push(`${tasks.join(' ')} ${kind}`);
    },
  });
  const tree = (task: string) => ({
    run: RUN,
    task: task as TaskId,
    role: role('coder'),
    baseTree: 'base' as ObjectId,
    tree: task as ObjectId,
  });
  await Promise.all([live.update(tree('T2')), live.update(tree('T1'))]);
  expect(met).toEqual(['T1 T2 textual']);
});
