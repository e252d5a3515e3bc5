import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Reply } from '../../src/cli/demo/script.ts';
import { finish, plan, reply, SRC_PROJECT } from './support/project.ts';
import { scenes, showCheckpoint } from './support/scenes.ts';
import { approveAll, follow, must, openStage, play, type ShownRun, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const UTIL = 'src/pkg/util.py';

function edit(oldText: string, newText: string): Reply {
  return reply({ name: 'edit_file', input: { path: UTIL, old_text: oldText, new_text: newText } });
}

interface Answered {
  readonly state: string;
  readonly message: string;
}

it('a conflict that shows only at the merge names both tasks, and the later one starts again from the other', async () => {
  const { script } = scenes({
    twice: {
      planner: [
        plan(
          { title: 'first', steps: ['coder'], expected_paths: ['src/pkg/core.py'] },
          { title: 'second', steps: ['coder'], expected_paths: ['src/pkg/__init__.py'] },
        ),
        finish(),
      ],
      'T1/coder': [edit('TWO = 2', 'TWO = 2  # first'), finish()],
      'T2/coder#1': [
        reply({ name: 'request_access', input: { paths: ['scripts/a.py'], reason: 'to wait' } }),
        edit('TWO = 2', 'TWO = 2  # second'),
        finish(),
      ],
      'T2/coder#2': [edit('TWO = 2  # first', 'TWO = 2  # first, second'), finish()],
    },
  });
  const opened = await openStage({ files: SRC_PROJECT, script });
  stage = opened;
  const parked = await play(opened, 'twice', {
    answer: (checkpoint) => (checkpoint.kind === 'boundary' ? undefined : approveAll(checkpoint)),
  });
  const { run } = parked.shown;
  const deadline = Date.now() + 30_000;
  const firstState = async (): Promise<string | undefined> =>
    (await opened.json<ShownRun>(['show', run])).tasks[0]?.state;
  while ((await firstState()) !== 'ready' && Date.now() < deadline) await sleep(100);
  // What running tasks changed is kept in memory: after a restart nobody sees the first one work any more.
  await must(opened.cli(['stop']));
  await must(opened.cli(['start']));
  const { shown, asked } = await follow(opened, run);
  expect(asked.map((each) => each.kind)).toEqual(['boundary', 'conflict', 'merge']);
  expect(asked[1]).toMatchObject({ task: 'T2', paths: [UTIL] });
  expect(asked[1]?.summary).toContain('T1 and T2');
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(await opened.git('show', `${shown.target}:${UTIL}`)).toBe('ONE = 1\nTWO = 2  # first, second\nTHREE = 3');
});

const COLLIDING = {
  'coder#1': [edit('TWO = 2', 'TWO = 2  # mine'), finish()],
  'coder#2': [edit('TWO = 2  # theirs', 'TWO = 2  # theirs, mine'), finish()],
};

it('a target that moved and collides: approve starts again from it, reject ends the run and leaves it', async () => {
  const { script } = scenes({ again: COLLIDING, leave: COLLIDING });
  const opened = await openStage({ files: SRC_PROJECT, script });
  stage = opened;
  const collide = async (request: string, target: string): Promise<{ run: string; conflict: string }> => {
    await opened.git('branch', target, 'main');
    const args = ['--role', 'coder', '--target', target];
    const { shown, asked } = await play(opened, request, { args, answer: () => undefined });
    await opened.git('checkout', '-q', target);
    await opened.edit(UTIL, (text) => text.replace('TWO = 2', 'TWO = 2  # theirs'));
    await opened.git('commit', '-qam', 'theirs');
    await opened.git('checkout', '-q', 'main');
    const [answer] = await opened.json<Answered[]>(['approve', String(asked[0]?.id)], [5]);
    expect(answer).toMatchObject({ state: 'void', message: expect.stringContaining('the target moved') });
    const [conflict] = await opened.json<{ id: string; kind: string; summary: string }[]>(['checkpoints']);
    expect(conflict).toMatchObject({ kind: 'conflict', summary: expect.stringContaining(target) });
    expect((await showCheckpoint(opened, String(conflict?.id))).body).toContain(`starts again from ${target}`);
    return { run: shown.run, conflict: String(conflict?.id) };
  };
  const again = await collide('again', 'topic');
  const said = await must(opened.cli(['approve', again.conflict]));
  expect(said.stdout).toContain('T1 starts again from topic');
  const { shown } = await follow(opened, again.run);
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(await opened.git('show', `topic:${UTIL}`)).toContain('TWO = 2  # theirs, mine');
  expect(await opened.git('log', '--format=%s', '-1', 'topic^')).toBe('theirs');

  const leave = await collide('leave', 'other');
  await must(opened.cli(['reject', leave.conflict, '--reason', 'theirs is enough']));
  const left = await follow(opened, leave.run);
  expect(left.shown.state).toBe('rejected');
  expect(left.shown.reason).toContain('theirs is enough');
  expect(await opened.git('log', '--format=%s', '-1', 'other')).toBe('theirs');
});
