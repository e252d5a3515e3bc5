import { afterEach, expect, it } from 'vitest';
import { tableScript } from '../../src/cli/demo/script.ts';
import { finish, plan, reply, SRC_PROJECT } from './support/project.ts';
import { approveAll, openStage, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

function edit(oldText: string, newText: string) {
  return {
    ...reply({ name: 'edit_file', input: { path: 'src/pkg/util.py', old_text: oldText, new_text: newText } }),
    delayMs: 300,
  };
}

function look() {
  return { ...reply({ name: 'read_file', input: { path: 'src/pkg/util.py' } }), delayMs: 800 };
}

/** Two tasks whose plans do not show that they meet: both change the line TWO. */
const script = tableScript({
  planner: [
    plan(
      { title: 'first', steps: ['coder'], expected_paths: ['src/pkg/core.py'] },
      { title: 'second', steps: ['coder'], expected_paths: ['src/pkg/__init__.py'] },
    ),
    finish(),
  ],
  'T1/coder': [edit('TWO = 2', 'TWO = 2  # first'), look(), { ...finish(), delayMs: 1500 }],
  'T2/coder#1': [edit('TWO = 2', 'TWO = 2  # second'), look(), look(), look(), finish()],
  'T2/coder#2': [edit('TWO = 2  # first', 'TWO = 2  # first, second'), finish()],
});

interface ConflictRow {
  readonly path: string;
  readonly tasks: readonly string[];
  readonly kind: string;
  readonly state: string;
}

it('lists a conflict of running tasks, lets one wait, and lands both changes', async () => {
  const opened = await openStage({ files: SRC_PROJECT, script });
  stage = opened;
  let listed: ConflictRow[] = [];
  let states: string[] = [];
  const { shown, asked } = await play(opened, 'change util twice', { answer: approveAll, args: [] });
  listed = await opened.json<ConflictRow[]>(['conflicts']);
  states = shown.tasks.map((task) => task.state);
  expect(asked.map((checkpoint) => checkpoint.kind)).toEqual(['plan', 'conflict', 'merge']);
  expect(asked[1]?.task).toBe('T2');
  expect(asked[1]?.summary).toContain('T1');
  expect(listed).toMatchObject([{ path: 'src/pkg/util.py', tasks: ['T1', 'T2'], kind: 'textual', state: 'resolved' }]);
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(states).toEqual(['merged', 'merged']);
  expect(await opened.git('show', `${shown.target}:src/pkg/util.py`)).toBe(
    'ONE = 1\nTWO = 2  # first, second\nTHREE = 3',
  );
});

it('keeps the first task when the human rejects the later one', async () => {
  const opened = await openStage({ files: SRC_PROJECT, script });
  stage = opened;
  let open: ConflictRow[] = [];
  const { shown } = await play(opened, 'change util twice', {
    answer: (checkpoint) =>
      checkpoint.kind === 'conflict'
        ? ['reject', checkpoint.id, '--reason', 'the first is enough']
        : approveAll(checkpoint),
  });
  open = (await opened.json<ConflictRow[]>(['conflicts'])).filter((row) => row.state === 'open');
  expect(open).toEqual([]);
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(shown.tasks.map((task) => task.state)).toEqual(['merged', 'rejected']);
  expect(await opened.git('show', `${shown.target}:src/pkg/util.py`)).toBe('ONE = 1\nTWO = 2  # first\nTHREE = 3');
});
