import { afterEach, describe, expect, it } from 'vitest';
import { type Reply, tableScript } from '../../src/cli/demo/script.ts';
import { approveReview, finish, plan, quietRoles, write } from './support/project.ts';
import { HONEST, startedWith } from './support/spending.ts';
import { keyOf, must, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function started(...given: Parameters<typeof startedWith>): Promise<Stage> {
  stage = await startedWith(...given);
  return stage;
}

interface Figures {
  readonly role: string;
  readonly requests: number;
  readonly estimated: number;
  readonly workTokens: number;
}

describe.each(['anthropic', 'openai-chat'] as const)('the report over %s', (protocol) => {
  it('equals the books of the model role by role, cache classes apart', async () => {
    const cached = (answer: Reply, n: number): Reply => ({
      ...answer,
      usage: { input: 300 + n, cacheRead: 4000 * n, cacheWrite: 1000 + n, output: 40 + n },
    });
    const opened = await started(
      {
        protocol,
        script: tableScript({
          planner: [cached(plan({ title: 'all', steps: ['coder', 'test', 'reviewer'] }), 1), cached(finish(), 2)],
          coder: [cached(write('src/pkg/core.py', HONEST), 0), cached(finish(), 3)],
          test: [cached(finish(), 4)],
          reviewer: [cached(approveReview(), 5), cached(finish(), 6)],
        }),
      },
      async () => undefined,
    );
    const { shown } = await play(opened, 'books');
    expect(shown.state, shown.reason ?? '').toBe('merged');
    const { rows } = await opened.json<{ rows: Figures[] }>(['report']);
    expect(rows.map(({ role }) => role)).toEqual(['coder', 'planner', 'reviewer', 'test']);
    for (const row of rows) {
      const own = opened.books.filter((book) => book.key === keyOf(row.role));
      const sum = (pick: (book: (typeof own)[number]) => number) => own.reduce((total, book) => total + pick(book), 0);
      expect(row).toMatchObject({
        requests: own.length,
        input: sum((book) => book.input),
        cacheRead: sum((book) => book.cacheRead),
        cacheWrite: sum((book) => book.cacheWrite),
        output: sum((book) => book.output),
        estimated: 0,
      });
      const work = sum((book) => book.input + book.cacheWrite + book.output + book.cacheRead * 0.1);
      expect(row.workTokens).toBeCloseTo(work, 6);
    }
  });

  it('shows a stream that states no usage as estimated', async () => {
    const hidden = (answer: Reply): Reply => ({ ...answer, hidesUsage: true });
    const opened = await started(
      {
        protocol,
        script: tableScript({ ...quietRoles(), coder: [hidden(write('src/pkg/core.py', HONEST)), hidden(finish())] }),
      },
      async () => undefined,
    );
    const { shown } = await play(opened, 'hidden');
    expect(shown.state, shown.reason ?? '').toBe('merged');
    const { rows } = await opened.json<{ rows: Figures[] }>(['report']);
    const of = (role: string) => rows.find((row) => row.role === role);
    expect(of('planner')?.estimated).toBe(0);
    expect(of('coder')).toMatchObject({ requests: 2 });
    expect(of('coder')?.estimated).toBe(of('coder')?.workTokens);
    // Never below what the model really took.
    const own = opened.books.filter((book) => book.key === keyOf('coder'));
    expect(of('coder')?.workTokens).toBeGreaterThanOrEqual(own.reduce((sum, row) => sum + row.input + row.output, 0));
    const table = await must(opened.cli(['report']));
    expect(table.stdout).toMatch(/estimated: \d+ tokens of calls that ended without a stated usage/);
  });
});
