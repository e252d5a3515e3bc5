import { afterEach, expect, it } from 'vitest';
import { finish, quietRoles, reply, SRC_PROJECT, write } from './support/project.ts';
import { configure, type ShownCheckpoint, scenes, showCheckpoint } from './support/scenes.ts';
import { approveAll, must, openStage, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

it('a role that passes warn_at of a budget is named once, at the merge', async () => {
  const read = (input: number) => ({
    ...reply({ name: 'read_file', input: { path: 'src/pkg/core.py' } }),
    usage: { input, output: 100 },
  });
  const honest = write('src/pkg/core.py', 'def add(a, b):\n    return b + a\n');
  const { script } = scenes({
    dear: { ...quietRoles(), coder: [read(30_000), { ...honest, usage: { input: 5000, output: 100 } }, finish()] },
    cheap: { ...quietRoles(), coder: [read(1000), honest, finish()] },
  });
  const opened = await openStage({ files: SRC_PROJECT, script, start: false });
  stage = opened;
  await configure(opened, 'roles/coder.yaml', [
    ['task: 200k', 'task: 100k'],
    ['warn_at: 80%', 'warn_at: 30%'],
  ]);
  await must(opened.cli(['start']));
  const warningsOf = async (request: string): Promise<readonly string[]> => {
    let merge: ShownCheckpoint | undefined;
    const { shown } = await play(opened, request, {
      answer: async (checkpoint) => {
        if (checkpoint.kind === 'merge') merge = await showCheckpoint(opened, checkpoint.id);
        return approveAll(checkpoint);
      },
    });
    expect(shown.state, shown.reason ?? '').toBe('merged');
    return (merge?.findings ?? []).filter((each) => each.kind === 'budget-warning').map((each) => each.text);
  };
  expect(await warningsOf('cheap')).toEqual([]);
  expect(await warningsOf('dear')).toEqual([
    'budget of role coder on task T1, 100,000 work tokens: spent 30,100 (warn_at 30%)',
  ]);
});
