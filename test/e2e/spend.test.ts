import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type Reply, type ScriptProtocol, tableScript } from '../../src/cli/demo/script.ts';
import { approveReview, finish, plan, quietRoles, reply, SRC_PROJECT, write } from './support/project.ts';
import { configure, type ShownCheckpoint, scenes, showCheckpoint } from './support/scenes.ts';
import { approveAll, follow, keyOf, must, openStage, play, type Stage, type StageOptions } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const HONEST = 'def add(a, b):\n    return b + a\n';
const read = (usage: NonNullable<Reply['usage']>): Reply => ({
  ...reply({ name: 'read_file', input: { path: 'src/pkg/core.py' } }),
  usage,
});

/** A stage whose policies are changed before the daemon starts. */
async function started(options: Omit<StageOptions, 'files' | 'start'>, prepare: (opened: Stage) => Promise<void>) {
  const opened = await openStage({ files: SRC_PROJECT, start: false, ...options });
  stage = opened;
  await prepare(opened);
  await must(opened.cli(['start']));
  return opened;
}

/** Work tokens as the provider's own books add them up. */
function billed({ books }: Stage): number {
  return books.reduce((sum, row) => sum + row.input + row.cacheWrite + row.output + row.cacheRead * 0.1, 0);
}

function requestsOf({ books }: Stage, role: string): number {
  return books.filter((row) => row.key === keyOf(role)).length;
}

async function pause(opened: Stage, request: string): Promise<{ run: string; budget: ShownCheckpoint }> {
  const { shown, asked } = await play(opened, request, {
    answer: (checkpoint) => (checkpoint.kind === 'budget' ? undefined : approveAll(checkpoint)),
  });
  const last = asked.at(-1);
  if (last?.kind !== 'budget') throw new Error(`the run ended as ${shown.state} without a budget checkpoint`);
  return { run: shown.run, budget: await showCheckpoint(opened, last.id) };
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

interface Failing {
  readonly answer: Reply;
  readonly reason: RegExp;
  readonly requests: number;
  /** What the ledger holds for the failed attempts. */
  readonly spent: Readonly<Record<string, unknown>>;
}

const NOTHING = { input: 0, output: 0, estimated: 0 };
const CHAT_SHAPED = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 70, completion_tokens: 7 },
};
const MESSAGES_SHAPED = {
  type: 'message',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 70, output_tokens: 7 },
};

function failures(protocol: ScriptProtocol): Readonly<Record<string, Failing>> {
  const foreign = protocol === 'anthropic' ? CHAT_SHAPED : MESSAGES_SHAPED;
  return {
    unauthorised: {
      answer: { status: 401, text: 'no such key' },
      reason: /does not accept the key of role coder \(401\): no such key; `orchestrator doctor/,
      requests: 1,
      spent: { requests: 1, ...NOTHING },
    },
    nowhere: {
      answer: { status: 404, text: 'not here' },
      reason: /has no model scripted-coder, or the base URL is wrong \(404\): not here/,
      requests: 1,
      spent: { requests: 1, ...NOTHING },
    },
    webpage: {
      answer: { body: '<html><title>Welcome</title></html>' },
      reason: /answered 200 with text\/html where an event stream .* Is the base URL right/,
      requests: 1,
      spent: { requests: 1, ...NOTHING },
    },
    foreign: {
      answer: { body: foreign },
      reason: /answered 200 with application\/json where an event stream of the .* protocol was asked for/,
      requests: 1,
      spent: { requests: 1, input: 70, output: 7, estimated: 0 },
    },
    broken: {
      answer: { status: 500, text: 'sorry' },
      reason: /The model endpoint failed \(500\), also after the retries: .*\(tried 3 times\): sorry/,
      requests: 3,
      spent: { requests: 3, ...NOTHING },
    },
    torn: {
      answer: { text: 'x'.repeat(400), usage: { input: 900, output: 400 }, cutAfterEvents: 5 },
      reason: /gave no complete answer to role coder: The stream of .* broke off before its end.*orchestrator retry/,
      requests: 1,
      spent: protocol === 'anthropic' ? { requests: 1, input: 900 } : { requests: 1 },
    },
    silent: {
      answer: { delayMs: 4000 },
      reason: /gave no answer within 2 s \(gateway\.request_timeout\)/,
      requests: 1,
      spent: { requests: 0, output: 8192 },
    },
  };
}

interface TaskRow extends Readonly<Record<string, unknown>> {
  readonly task: string;
  readonly estimated: number;
}

describe.each(['anthropic', 'openai-chat'] as const)('an endpoint that fails, over %s', (protocol) => {
  it('ends the step in one sentence, and a retry goes on', async () => {
    const cases = failures(protocol);
    const good = [write('src/pkg/core.py', HONEST), { ...finish(), usage: { input: 50, output: 5 } }];
    const tables = Object.entries(cases).map(([name, { answer }]) => [
      name,
      { ...quietRoles(), 'coder#1': [answer], 'coder#2': good },
    ]);
    const { script } = scenes(Object.fromEntries(tables));
    const opened = await started({ protocol, script }, (opened) =>
      configure(opened, 'global.yaml', [['request_timeout: 180s', 'request_timeout: 2s']]),
    );
    for (const [name, { reason, requests, spent }] of Object.entries(cases)) {
      const before = requestsOf(opened, 'coder');
      const { shown } = await play(opened, name);
      const task = (shown.tasks as readonly { state: string; reason?: string | null }[])[0];
      expect({ name, run: shown.state, task: task?.state }).toEqual({ name, run: 'failed', task: 'failed' });
      expect(task?.reason).toMatch(reason);
      expect(task?.reason).not.toMatch(/TypeError|undefined|\n/);
      const { rows } = await opened.json<{ rows: TaskRow[] }>(['report', '--by', 'task']);
      const row = rows.find((each) => each.task === `${shown.run}/T1`);
      expect({ name, ...row }).toMatchObject({ name, ...spent });
      if (name === 'silent') expect(row?.estimated).toBeGreaterThan(8192);

      await must(opened.cli(['retry', `${shown.run}/T1`]));
      const again = await follow(opened, shown.run);
      expect({ name, state: again.shown.state, reason: again.shown.reason }).toMatchObject({ name, state: 'merged' });
      expect(again.shown.tasks[0]?.steps.map(({ attempt, state }) => [attempt, state])).toEqual([
        [1, 'failed'],
        [2, 'done'],
      ]);
      // Two for the attempt that went well; a late answer enters the books only when it is given.
      const all = { name, requests: requests + good.length };
      const counted = () => ({ name, requests: requestsOf(opened, 'coder') - before });
      await expect.poll(counted, { timeout: 10_000, interval: 100 }).toEqual(all);
    }
  });
});

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
