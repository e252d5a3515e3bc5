import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type Reply, type ScriptRequest, tableScript } from '../../src/cli/demo/script.ts';
import { finish, plan, quietRoles, write } from './support/project.ts';
import { configure, type ShownCheckpoint, showCheckpoint } from './support/scenes.ts';
import { billed, HONEST, pause, read, requestsOf, startedWith } from './support/spending.ts';
import { approveAll, follow, must, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function started(...given: Parameters<typeof startedWith>): Promise<Stage> {
  stage = await startedWith(...given);
  return stage;
}

describe('token budgets', () => {
  it('two parallel tasks under one run cap never pass it', async () => {
    const CAP = 60_000;
    const working = (path: string): Reply[] => [
      ...Array.from({ length: 5 }, (_, n) => read({ input: 9000 + n, output: 200 })),
      write(path, HONEST),
      finish(),
    ];
    const opened = await started(
      {
        script: tableScript({
          planner: [
            plan(
              { title: 'one', steps: ['coder'], expected_paths: ['src/pkg/one.py'] },
              { title: 'two', steps: ['coder'], expected_paths: ['src/pkg/two.py'] },
            ),
            finish(),
          ],
          'T1/coder': working('src/pkg/one.py'),
          'T2/coder': working('src/pkg/two.py'),
        }),
      },
      (opened) => configure(opened, 'global.yaml', [['run_tokens: 600k', 'run_tokens: 60k']]),
    );
    const { run, budget } = await pause(opened, 'both');
    expect(budget.summary).toMatch(/budget of run r-\S+ reached: .* of 60,000 work tokens/);
    // The other task may still be at work, on what is left.
    const before: number[] = [];
    const { shown } = await follow(opened, run, {
      answer: async (checkpoint) => {
        if (checkpoint.kind !== 'budget') return approveAll(checkpoint);
        const pending = await opened.json<{ kind: string }[]>(['checkpoints']);
        // Both tasks come to stand at the same cap before it is raised.
        if (before.length === 0 && pending.filter(({ kind }) => kind === 'budget').length < 2) return ['status'];
        before.push(billed(opened));
        // The second needs no new number: the budget that it waits for has room by then.
        return before.length === 1 ? approveAll(checkpoint) : ['approve', checkpoint.id];
      },
    });
    expect(before).toHaveLength(2);
    expect(before[0]).toBeLessThanOrEqual(CAP);
    expect(before[0]).toBeGreaterThan(CAP / 2);
    expect(shown.state, shown.reason ?? '').toBe('merged');
    expect(billed(opened)).toBeGreaterThan(CAP);
  });

  it('a day cap stops, a reload raises it for the run that waits, and what was approved outlives a restart', async () => {
    const opened = await started(
      {
        script: tableScript({
          ...quietRoles(),
          coder: [
            read({ input: 15_000, output: 10 }),
            read({ input: 15_100, output: 10 }),
            write('src/pkg/core.py', HONEST),
            finish(),
          ],
        }),
      },
      (opened) => configure(opened, 'global.yaml', [['day_tokens: 2M', 'day_tokens: 40k']]),
    );
    const { run, budget } = await pause(opened, 'today');
    expect(budget.summary).toMatch(/budget of all roles on \d{4}-\d\d-\d\d reached: .* of 40,000 work tokens/);
    expect(billed(opened)).toBeLessThanOrEqual(40_000);
    const spent = requestsOf(opened, 'coder');

    const bare = await opened.cli(['approve', budget.id]);
    expect(bare).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/say the new cap: .*--tokens N, with N at least/),
    });
    await configure(opened, 'global.yaml', [['day_tokens: 40k', 'day_tokens: 300k']]);
    await must(opened.cli(['policy', 'reload']));
    // The policy that the question was bound to has changed: it is asked anew, and needs no number any more.
    expect((await opened.cli(['approve', budget.id])).code).toBe(5);
    const { shown } = await follow(opened, run, { answer: (checkpoint) => ['approve', checkpoint.id] });
    expect(shown.state, shown.reason ?? '').toBe('merged');
    expect(requestsOf(opened, 'coder')).toBeGreaterThan(spent);

    await configure(opened, 'global.yaml', [['day_tokens: 300k', 'day_tokens: 20k']]);
    await must(opened.cli(['policy', 'reload']));
    const next = await pause(opened, 'tomorrow');
    expect(next.budget.summary).toMatch(/of 20,000 work tokens/);
    await must(opened.cli(['approve', next.budget.id, '--tokens', '400k']));
    await must(opened.cli(['stop']));
    await must(opened.cli(['start']));
    const again = await follow(opened, next.run);
    expect(again.asked.map(({ kind }) => kind)).not.toContain('budget');
    expect(again.shown.state, again.shown.reason ?? '').toBe('merged');
  });

  it('a budget of 0 asks before the first call', async () => {
    const opened = await started(
      { script: tableScript({ ...quietRoles(), coder: [write('src/pkg/core.py', HONEST), finish()] }) },
      (opened) => configure(opened, 'roles/coder.yaml', [[/task: \w+/, 'task: 0']]),
    );
    const { run, budget } = await pause(opened, 'nothing');
    expect(budget.summary).toMatch(/role coder on task T1 reached: 0 used and 0 held of 0 work tokens/);
    expect(requestsOf(opened, 'coder')).toBe(0);
    const wrong = await opened.cli(['approve', budget.id, '--usd', '2']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/counted in work tokens: .*--tokens N/) });
    const { shown } = await follow(opened, run);
    expect(shown.state, shown.reason ?? '').toBe('merged');
    expect(requestsOf(opened, 'coder')).toBe(2);
  });

  it('an answer that the budget cut short is shown at the merge', async () => {
    const opened = await started(
      {
        script: tableScript({
          ...quietRoles(),
          coder: [
            read({ input: 20_000, output: 100 }),
            { text: 'Thinking at length. ', usage: { input: 100, output: 6000 } },
            { ...write('src/pkg/core.py', HONEST), usage: { input: 100, output: 50 } },
            { ...finish(), usage: { input: 100, output: 50 } },
          ],
        }),
      },
      (opened) => configure(opened, 'roles/coder.yaml', [[/task: \w+/, 'task: 43k']]),
    );
    const findings: ShownCheckpoint['findings'][] = [];
    const { shown } = await play(opened, 'short', {
      answer: async (checkpoint) => {
        if (checkpoint.kind === 'merge') findings.push((await showCheckpoint(opened, checkpoint.id)).findings);
        return approveAll(checkpoint);
      },
    });
    expect(shown.state, shown.reason ?? '').toBe('merged');
    const clamped = findings[0]?.filter(({ kind }) => kind === 'clamped-answer');
    expect(clamped).toMatchObject([
      { task: 'T1', role: 'coder', text: expect.stringMatching(/^1 answer was cut short/) },
    ]);
  });
});

it('an empty account behind the key asks, has no cap to raise, and goes on once it has money', async () => {
  let isEmpty = true;
  const table = tableScript({ ...quietRoles(), coder: [write('src/pkg/core.py', HONEST), finish()] });
  const empty: Reply = { status: 402, body: { error: { type: 'billing_error', message: 'Your balance is too low' } } };
  const script = (request: ScriptRequest) => (isEmpty && request.role === 'coder' ? empty : table(request));
  const opened = await started({ script }, async () => undefined);
  const { run, budget } = await pause(opened, 'empty');
  expect(budget.summary).toMatch(/account behind the key of coder is empty: Your balance is too low/);
  const raise = await opened.cli(['approve', budget.id, '--tokens', '900k']);
  expect(raise).toMatchObject({ code: 2, stderr: expect.stringMatching(/there is no cap to raise/) });
  isEmpty = false;
  const { shown } = await follow(opened, run, { answer: (checkpoint) => ['approve', checkpoint.id] });
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(requestsOf(opened, 'coder')).toBe(3);
});

describe('budgets in dollars', () => {
  const withModel = async (opened: Stage, model: string, usd: string) => {
    await configure(opened, 'roles/coder.yaml', [['usd_task: null', `usd_task: ${usd}`]]);
    const { env } = await opened.json<{ env: string }>(['path']);
    const text = await readFile(env, 'utf8');
    await writeFile(env, text.replace('scripted-coder', model));
  };

  it('stops before the limit, is raised in dollars, and the same conversation goes on', async () => {
    const opened = await started(
      {
        script: tableScript({
          ...quietRoles(),
          coder: [read({ input: 20_000, output: 1000 }), write('src/pkg/core.py', HONEST), finish()],
        }),
      },
      (opened) => withModel(opened, 'claude-opus-4-5', '0.32'),
    );
    const { run, budget } = await pause(opened, 'money');
    expect(budget.summary).toMatch(
      /money of role coder on task T1 reached: \$0\.125 used and \$0\.00 held of \$0\.32; .* at least \$0\.2/,
    );
    expect(budget.body).toContain('--usd N');
    expect(requestsOf(opened, 'coder')).toBe(1);
    for (const [args, words] of [
      [['--tokens', '900k'], /counted in dollars: .*--usd N, with N at least 0\.\d+/],
      [['--usd', '0.3'], /\$0\.30 is not above the cap of \$0\.32/],
      [['--usd', 'lots'], /--usd lots is not an amount in dollars/],
    ] as const) {
      const outcome = await opened.cli(['approve', budget.id, ...args]);
      expect(outcome).toMatchObject({ code: 2, stderr: expect.stringMatching(words) });
    }
    await must(opened.cli(['approve', budget.id, '--usd', '5']));
    const { shown } = await follow(opened, run);
    expect(shown.state, shown.reason ?? '').toBe('merged');
    expect(shown.tasks[0]?.steps).toMatchObject([{ role: 'coder', attempt: 1, state: 'done' }]);
    expect(requestsOf(opened, 'coder')).toBe(3);
  });

  it('an unknown price is refused until the limit is taken away', async () => {
    const opened = await started(
      { script: tableScript({ ...quietRoles(), coder: [write('src/pkg/core.py', HONEST), finish()] }) },
      (opened) => withModel(opened, 'model-nobody-sells', '100'),
    );
    const { run, budget } = await pause(opened, 'unknown');
    expect(budget.summary).toMatch(/limit of \$100\.00, and nobody knows the price of the model/);
    expect(requestsOf(opened, 'coder')).toBe(0);
    const raise = await opened.cli(['approve', budget.id, '--usd', '500']);
    expect(raise).toMatchObject({ code: 2, stderr: expect.stringMatching(/budget\.usd_task: null .*policy reload/) });
    await configure(opened, 'roles/coder.yaml', [['usd_task: 100', 'usd_task: null']]);
    await must(opened.cli(['policy', 'reload']));
    expect((await opened.cli(['approve', budget.id])).code).toBe(5);
    const { shown } = await follow(opened, run, { answer: (checkpoint) => ['approve', checkpoint.id] });
    expect(shown.state, shown.reason ?? '').toBe('merged');
  });
});
