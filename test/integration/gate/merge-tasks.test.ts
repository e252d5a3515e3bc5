import { expect, test } from 'vitest';
import type { ObjectId, TaskId } from '../../../src/domain/ids.ts';
import { mergeMessage, mergeTasks, type TaskHead } from '../../../src/gate/merge-tasks.ts';
import { AT, AUTHOR, type Fixture, makeRepository, RUN } from './repository.ts';

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index}`);
const withLine = (at: number, text: string) => LINES.map((line, index) => (index === at ? text : line)).join('\n');

const head = (task: string, commit: ObjectId): TaskHead => ({ task: task as TaskId, commit, title: `about ${task}` });

function merge({ store }: Fixture, base: ObjectId, heads: readonly TaskHead[]) {
  return mergeTasks({ git: store, base, heads, author: AUTHOR, message: (each) => mergeMessage(RUN, each), atMs: AT });
}

test('goes forward, skips what is contained, and makes a real merge of what diverged', async () => {
  const fixture = await makeRepository({ 'a.py': LINES.join('\n') });
  const base = await fixture.head();
  const first = await fixture.step(base, { 'a.py': withLine(3, 'first') });
  const second = await fixture.step(base, { 'a.py': withLine(30, 'second') });
  expect(await merge(fixture, base, [])).toEqual({ result: base, merged: [] });
  expect(await merge(fixture, base, [head('T1', first)])).toEqual({ result: first, merged: ['T1'] });
  const both = await merge(fixture, base, [head('T1', first), head('T2', base), head('T3', second)]);
  expect(both).toMatchObject({ merged: ['T1', 'T2', 'T3'] });
  expect(await fixture.store.parentsOf(both.result)).toEqual([first, second]);
  const entry = await fixture.store.entry(await fixture.store.treeOf(both.result), 'a.py' as never);
  const text = String(await fixture.store.readBlob(entry?.blob as ObjectId));
  expect(text.split('\n').filter((line) => !LINES.includes(line))).toEqual(['first', 'second']);
  await fixture.user.importCommit(fixture.store, both.result);
  expect(await fixture.git('log', '-1', '--format=%an %s%n%(trailers:only)', both.result)).toBe(
    `${AUTHOR.name} Merge T3: about T3\nOrchestrator-Run: ${RUN}\nOrchestrator-Task: T3\n`,
  );
});

test('stops at the first conflict and names the tasks that collide, not the others', async () => {
  const fixture = await makeRepository({ 'a.py': 'one\n', 'b.py': 'two\n' });
  const base = await fixture.head();
  const first = await fixture.step(base, { 'a.py': 'first\n' });
  const second = await fixture.step(base, { 'b.py': 'second\n' });
  const third = await fixture.step(base, { 'a.py': 'third\n' });
  const fourth = await fixture.step(base, { 'c.py': 'fourth\n' });
  const heads = [head('T1', first), head('T2', second), head('T3', third), head('T4', fourth)];
  const outcome = await merge(fixture, base, heads);
  expect(outcome).toMatchObject({ merged: ['T1', 'T2'], conflict: { task: 'T3', with: ['T1'], paths: ['a.py'] } });
  const without = await merge(
    fixture,
    base,
    heads.filter(({ task }) => task !== 'T3'),
  );
  expect(without).toMatchObject({ merged: ['T1', 'T2', 'T4'] });
  expect(without.conflict).toBeUndefined();
});

test('a conflict with a base that moved names no task', async () => {
  const fixture = await makeRepository({ 'a.py': 'one\n' });
  const start = await fixture.head();
  const task = await fixture.step(start, { 'a.py': 'task\n' });
  await fixture.write('a.py', 'moved\n');
  const moved = await fixture.save('moved');
  expect(await merge(fixture, moved, [head('T1', task)])).toEqual({
    result: moved,
    merged: [],
    conflict: { task: 'T1', with: [], paths: ['a.py'] },
  });
});

test('a title cannot forge a trailer', () => {
  const message = mergeMessage(RUN, { ...head('T1', '' as ObjectId), title: 'x\n\nAgent-Role: human\u2028y\r' });
  expect(message.split('\n').filter((line) => line.startsWith('Agent-Role'))).toEqual([]);
  expect(message.split('\n')[0]).toBe('Merge T1: x Agent-Role: human y');
});
