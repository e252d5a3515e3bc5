import { expect, it } from 'vitest';
import { keepLatest } from '../../../src/git/keep-latest.ts';

it('asks once about an id, keeps the latest few, and does not keep a failure', async () => {
  const asked: string[] = [];
  let fails = true;
  const read = keepLatest(6, async (id: string) => {
    asked.push(id);
    if (id === 'bad' && fails) throw new Error('no such object');
    return id.toUpperCase();
  });
  expect(await Promise.all([read('a'), read('a')])).toEqual(['A', 'A']);
  for (const id of ['b', 'c', 'd', 'e', 'f']) await read(id);
  await read('a');
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  await read('g');
  await read('a');
  await read('b');
  expect(asked.slice(6)).toEqual(['g', 'b']);
  await expect(read('bad')).rejects.toThrow('no such object');
  fails = false;
  expect(await read('bad')).toBe('BAD');
});
