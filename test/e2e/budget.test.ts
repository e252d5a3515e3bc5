import { afterEach, expect, it } from 'vitest';
import { tableScript } from '../../src/cli/demo/script.ts';
import { command, finish, quietRoles, reply, SRC_PROJECT, write } from './support/project.ts';
import { approveAll, keyOf, must, openStage, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const HONEST = 'def add(a, b):\n    return b + a\n';

interface ReportRow {
  readonly key: string;
  readonly role: string;
  readonly requests: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly workTokens: number;
  readonly usd: number | null;
}

it('stops before the cap, is raised, and the same conversation goes on', async () => {
  const read = (input: number) => ({
    ...reply({ name: 'read_file', input: { path: 'src/pkg/core.py' } }),
    usage: { input, output: 100 },
  });
  const opened = await openStage({
    files: SRC_PROJECT,
    start: false,
    script: tableScript({
      ...quietRoles(),
      coder: [read(15_000), read(15_100), write('src/pkg/core.py', HONEST), finish()],
    }),
  });
  stage = opened;
  await opened.edit('policies/roles/coder.yaml', (text) => text.replace(/task: [\w]+/, 'task: 40k'));
  await must(opened.cli(['start']));
  const spentAt: number[] = [];
  const { shown, asked } = await play(opened, 'swap', {
    answer: (checkpoint) => {
      if (checkpoint.kind === 'budget') spentAt.push(opened.books.filter((row) => row.key === keyOf('coder')).length);
      return approveAll(checkpoint);
    },
  });
  expect(asked.map((checkpoint) => checkpoint.kind)).toEqual(['plan', 'budget', 'merge']);
  expect(spentAt).toEqual([2]);
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(shown.tasks[0]?.steps).toMatchObject([{ role: 'coder', attempt: 1, state: 'done' }]);
  // One request a turn: the refused call never reached the model, and nothing was asked again.
  expect(opened.books.filter((row) => row.key === keyOf('coder'))).toHaveLength(4);
});

it('ends the task as budget_exhausted when the human does not raise', async () => {
  const opened = await openStage({
    files: SRC_PROJECT,
    start: false,
    script: tableScript({
      ...quietRoles(),
      coder: [
        { ...reply({ name: 'read_file', input: { path: 'src/pkg/core.py' } }), usage: { input: 39_000, output: 1 } },
        finish(),
      ],
    }),
  });
  stage = opened;
  await opened.edit('policies/roles/coder.yaml', (text) => text.replace(/task: [\w]+/, 'task: 40k'));
  await must(opened.cli(['start']));
  const { shown } = await play(opened, 'swap', {
    answer: (checkpoint) =>
      checkpoint.kind === 'budget' ? ['reject', checkpoint.id, '--reason', 'too dear'] : approveAll(checkpoint),
  });
  expect(shown.state).toBe('budget_exhausted');
});

it('shows no role the key of another, and the report equals the books of the model', async () => {
  const probe = [
    'env',
    'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"',
    'cat /tmp/orch-e2e-*/state/.env ~/.env 2>/dev/null',
    'find / -xdev -name .env -maxdepth 6 2>/dev/null | head -20',
    'echo probe ended',
  ].join('; ');
  const seen: string[] = [];
  const table = tableScript({
    planner: quietRoles(['coder', 'test', 'reviewer'])['planner'] ?? [],
    coder: [command(probe), write('src/pkg/core.py', HONEST), finish()],
    test: [{ ...finish(), usage: { input: 700, output: 30, cacheRead: 5000, cacheWrite: 200 } }],
    reviewer: quietRoles()['reviewer'] ?? [],
  });
  const opened = await openStage({
    files: SRC_PROJECT,
    start: false,
    script: (request) => {
      seen.push(JSON.stringify(request.messages));
      return table(request);
    },
  });
  stage = opened;
  await opened.edit('policies/roles/coder.yaml', (text) => text.replace(/allow: \[[^\]]*\]/, 'allow: ["**"]'));
  await must(opened.cli(['start']));
  const { shown } = await play(opened, 'swap');
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(seen.join()).toContain('probe ended');
  for (const role of ['planner', 'coder', 'test', 'reviewer']) expect(seen.join()).not.toContain(keyOf(role));
  const report = await opened.json<{ rows: ReportRow[]; total: ReportRow }>(['report', '--by', 'role']);
  for (const role of ['planner', 'coder', 'test', 'reviewer']) {
    const rows = opened.books.filter((row) => row.key === keyOf(role));
    const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0);
    expect(rows.length).toBeGreaterThan(0);
    expect(report.rows.find((row) => row.role === role)).toMatchObject({
      requests: rows.length,
      input: sum((row) => row.input),
      output: sum((row) => row.output),
      cacheRead: sum((row) => row.cacheRead),
      cacheWrite: sum((row) => row.cacheWrite),
      usd: null,
    });
  }
});
