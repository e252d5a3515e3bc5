import { expect, it } from 'vitest';
import type { ObjectId } from '../../../src/domain/ids.ts';
import { keepTreeLists } from '../../../src/git/tree-lists.ts';

const id = (text: string): ObjectId => text as ObjectId;

it('asks once for a tree, keeps the latest few, and does not keep a failure', async () => {
  const asked: string[] = [];
  let fails = true;
  const list = keepTreeLists(async (tree) => {
    asked.push(tree);
    if (tree === 'bad' && fails) throw new Error('no such tree');
    return [];
  });
  await Promise.all([list(id('a')), list(id('a'))]);
  for (const tree of ['b', 'c', 'd', 'e', 'f']) await list(id(tree));
  await list(id('a'));
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  await list(id('g'));
  await list(id('a'));
  await list(id('b'));
  expect(asked.slice(6)).toEqual(['g', 'b']);
  await expect(list(id('bad'))).rejects.toThrow('no such tree');
  fails = false;
  expect(await list(id('bad'))).toEqual([]);
});
