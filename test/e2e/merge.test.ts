import { afterEach, expect, it } from 'vitest';
import type { Reply } from '../../src/cli/demo/script.ts';
import { finish, plan, quietRoles, SRC_PROJECT, write } from './support/project.ts';
import { configure, scenes, showCheckpoint } from './support/scenes.ts';
import { type CheckpointRow, must, openStage, play, type ShownRun, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const CORE = 'def add(a, b):\n    return b + a\n';
const BROKEN = 'def add(a, b):\n    return 4\n';

interface Answered {
  readonly id: string;
  readonly state: string;
  readonly message: string;
  readonly replacedBy?: string;
}

async function open(tables: Parameters<typeof scenes>[0]): Promise<{ stage: Stage; seen: string[] }> {
  const { script, seen } = scenes(tables);
  const opened = await openStage({ files: SRC_PROJECT, script });
  stage = opened;
  return { stage: opened, seen };
}

function coderOf(content: string, task: object = {}): Record<string, Reply[]> {
  return {
    ...quietRoles(),
    planner: [plan({ title: 'the task', steps: ['coder'], ...task }), finish()],
    coder: [write('src/pkg/core.py', content), finish()],
  };
}

/** Plays until the merge checkpoint waits. */
async function untilMerge(
  opened: Stage,
  request: string,
  args: readonly string[] = [],
): Promise<{ shown: ShownRun; merge: CheckpointRow }> {
  const { shown, asked } = await play(opened, request, {
    args,
    answer: ({ kind, id }) => (kind === 'merge' ? undefined : ['approve', id]),
  });
  const merge = asked.at(-1);
  if (merge?.kind !== 'merge') throw new Error(`${request} did not get to its merge: ${JSON.stringify(shown)}`);
  return { shown, merge };
}

it('an answer is used once: rejected, approved by two at once, used again, unknown', async () => {
  const { stage: opened } = await open({ refused: coderOf(CORE), accepted: coderOf(CORE) });
  const refused = await untilMerge(opened, 'refused');
  expect(refused.shown.state).toBe('ready');
  await must(opened.cli(['reject', refused.merge.id, '--reason', 'not wanted']));
  const rejected = await opened.json<ShownRun>(['show', refused.shown.run]);
  expect(rejected).toMatchObject({ state: 'rejected', reason: 'not wanted', tasks: [{ state: 'rejected' }] });
  expect(await opened.git('branch', '--list', refused.shown.target)).toBe('');

  const { merge, shown } = await untilMerge(opened, 'accepted');
  const both = await Promise.all([opened.cli(['approve', merge.id]), opened.cli(['approve', merge.id])]);
  expect(both.map((outcome) => outcome.code).toSorted()).toEqual([0, 5]);
  expect((await opened.json<ShownRun>(['show', shown.run])).state).toBe('merged');
  expect(await opened.git('rev-list', '--count', `main..${shown.target}`)).toBe('1');
  const again = await opened.cli(['approve', merge.id]);
  expect(again).toMatchObject({ code: 5 });
  expect(again.stderr).toContain('approved already');
  expect((await opened.cli(['reject', merge.id, '--reason', 'late'])).code).toBe(5);
  expect((await opened.cli(['approve', 'c-nothing'])).code).toBe(2);
});

it('rework: only the task that is named works again, with the reason', async () => {
  const { stage: opened, seen } = await open({
    two: {
      planner: [
        plan(
          { title: 'first', steps: ['coder'], expected_paths: ['src/pkg/core.py'] },
          { title: 'second', steps: ['coder'], expected_paths: ['src/pkg/util.py'] },
        ),
        finish(),
      ],
      'T1/coder': [write('src/pkg/core.py', CORE), finish()],
      'T2/coder#1': [write('src/pkg/util.py', 'ONE = 1\n'), finish()],
      'T2/coder#2': [write('src/pkg/util.py', 'ONE = 1\nTWO = 2\n'), finish()],
    },
  });
  const { merge, shown } = await untilMerge(opened, 'two');
  expect((await opened.cli(['reject', merge.id, '--reason', 'x', '--rework', '--task', 'T9'])).code).toBe(2);
  await must(opened.cli(['reject', merge.id, '--reason', 'keep the constant TWO', '--rework', '--task', 'T2']));
  const deadline = Date.now() + 60_000;
  let next: CheckpointRow | undefined;
  while (next === undefined && Date.now() < deadline) [next] = await opened.json<CheckpointRow[]>(['checkpoints']);
  expect(next).toMatchObject({ kind: 'merge' });
  expect(next?.id).not.toBe(merge.id);
  expect(seen.filter((messages) => messages.includes('keep the constant TWO')).length).toBeGreaterThan(0);
  await must(opened.cli(['approve', String(next?.id)]));
  const ended = await opened.json<ShownRun>(['show', shown.run]);
  expect(ended.state).toBe('merged');
  expect(ended.tasks.map((task) => task.steps.map((step) => step.attempt))).toEqual([[1], [1, 2]]);
  expect(await opened.git('show', `${shown.target}:src/pkg/util.py`)).toBe('ONE = 1\nTWO = 2');
});

it('a verify that failed or is invalid is shown first and needs --despite-verify', async () => {
  const { stage: opened } = await open({
    broken: coderOf(BROKEN),
    elsewhere: { ...quietRoles(), coder: [write('src/pkg/__init__.py', 'raise ImportError("no")\n'), finish()] },
  });
  for (const [request, result] of [
    ['broken', 'failed'],
    ['elsewhere', 'invalid'],
  ] as const) {
    const { merge, shown } = await untilMerge(opened, request);
    const { findings, summary } = await showCheckpoint(opened, merge.id);
    expect(summary).toContain(`verify ${result}`);
    expect(findings[0]).toMatchObject({ kind: 'verify', text: expect.stringContaining(result) });
    const text = (await must(opened.cli(['show', merge.id]))).stdout;
    expect(text.indexOf('finding verify')).toBeLessThan(text.indexOf('paths:'));
    const refused = await opened.cli(['approve', merge.id]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('--despite-verify');
    expect((await showCheckpoint(opened, merge.id)).state).toBe('pending');
    await must(opened.cli(['approve', merge.id, '--despite-verify']));
    expect((await opened.json<ShownRun>(['show', shown.run])).state).toBe('merged');
  }
});

it('an acceptance command that is red before and green after is silent, any other is a finding', async () => {
  const acceptance = (command: string) => coderOf(CORE, { acceptance: command });
  const { stage: opened } = await open({
    proves: acceptance('grep -q "b + a" src/pkg/core.py'),
    'passed before': acceptance('grep -q "def add" src/pkg/core.py'),
    'fails after': acceptance('grep -q "a - b" src/pkg/core.py'),
  });
  const findingsOf = async (request: string): Promise<readonly string[]> => {
    const { merge } = await untilMerge(opened, request);
    const { findings } = await showCheckpoint(opened, merge.id);
    await must(opened.cli(['reject', merge.id, '--reason', 'seen']));
    return findings.filter((finding) => finding.kind === 'acceptance').map((finding) => finding.text);
  };
  expect(await findingsOf('proves')).toEqual([]);
  expect(await findingsOf('passed before')).toMatchObject([expect.stringContaining('already on the base')]);
  expect(await findingsOf('fails after')).toMatchObject([expect.stringContaining('fails on the result')]);
});

it('is void when the policy or the target changed, and the new one says what changed', async () => {
  const { stage: opened } = await open({ policy: coderOf(CORE), target: coderOf(CORE) });
  const first = await untilMerge(opened, 'policy');
  await configure(opened, 'global.yaml', [['commits: 20', 'commits: 19']]);
  await must(opened.cli(['policy', 'reload']));
  const [byPolicy] = await opened.json<Answered[]>(['approve', first.merge.id], [5]);
  expect(byPolicy).toMatchObject({ id: first.merge.id, state: 'void', message: expect.stringContaining('policy') });
  const renewed = await showCheckpoint(opened, String(byPolicy?.replacedBy));
  expect(renewed.body).toContain(`Since ${first.merge.id}`);
  expect(renewed.body).toContain('the policy changed');
  await must(opened.cli(['approve', renewed.id]));
  expect((await opened.json<ShownRun>(['show', first.shown.run])).state).toBe('merged');

  await opened.git('branch', 'topic');
  const second = await untilMerge(opened, 'target', ['--target', 'topic']);
  await opened.git('worktree', 'add', '-q', '../topic', 'topic');
  await opened.git('-C', '../topic', 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
  await opened.git('worktree', 'remove', '../topic');
  const [byTarget] = await opened.json<Answered[]>(['approve', second.merge.id], [5]);
  expect(byTarget?.message).toContain('target');
  const moved = await showCheckpoint(opened, String(byTarget?.replacedBy));
  expect(moved.body).toContain('the target moved');
  await must(opened.cli(['approve', moved.id]));
  expect(await opened.git('log', '--format=%s', '-1', 'topic^1')).toBe('meanwhile');
  expect(await opened.git('show', 'topic:src/pkg/core.py')).toBe(CORE.trim());
});
