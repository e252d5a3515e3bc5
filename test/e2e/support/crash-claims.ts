import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { COMMITTED_STEPS, EXPECTED, NOTES } from './crash-script.ts';
import { compareWithBooks, queryState, readBudgets, readCalls, sumOf } from './ledger.ts';
import type { CheckpointRow, ShownRun, Stage } from './stage.ts';

/** The target holds what the steps made, each step's commit once. */
export async function expectTarget(stage: Stage, shown: ShownRun): Promise<void> {
  for (const [file, content] of Object.entries(EXPECTED)) {
    expect(`${await stage.git('show', `${shown.target}:${file}`)}\n`, file).toBe(content);
  }
  const format =
    '%(trailers:key=Orchestrator-Task,valueonly,separator=)/%(trailers:key=Agent-Role,valueonly,separator=)';
  const log = (await stage.git('log', `--format=${format}`, `main..${shown.target}`)).split('\n');
  const steps = log.filter((line) => !line.endsWith('/'));
  expect(steps.sort()).toEqual(COMMITTED_STEPS);
  expect(log.length - steps.length, 'merge commits').toBeLessThanOrEqual(1);
}

/** Every question was kept, answered once, and had its effect once. */
export async function expectCheckpoints(stage: Stage, asked: ReadonlyMap<string, CheckpointRow>): Promise<void> {
  const all = await stage.json<(CheckpointRow & { state: string })[]>(['checkpoints', '--all']);
  expect(all.map((checkpoint) => checkpoint.state)).toEqual(all.map(() => 'approved'));
  expect([...asked.keys()].filter((id) => !all.some((checkpoint) => checkpoint.id === id))).toEqual([]);
  const kinds = all.map((checkpoint) => checkpoint.kind);
  expect(kinds.filter((kind) => kind === 'plan')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'merge')).toHaveLength(1);
  expect(kinds).toContain('budget');
  const answered = eventsOf(stage, 'checkpoint-approved').map((event) => String(event['checkpoint']));
  expect(answered.sort()).toEqual(all.map((checkpoint) => checkpoint.id).sort());
  for (const type of ['merge-finished', 'run-ended']) expect(eventsOf(stage, type), type).toHaveLength(1);
}

/** No turn was recorded twice, no step ended twice, every attempt is the first. */
export function expectTurnsOnce(stage: Stage): void {
  const rows = queryState<{ type: string; agent: string; data: string }>(
    stage,
    "SELECT type, agent, data FROM events WHERE type IN ('turn-ended', 'step-done')",
  );
  const keys = rows.map((row) => {
    const turn: unknown = (JSON.parse(row.data) as { turn?: number }).turn;
    return `${row.type} ${row.agent} ${turn ?? ''}`;
  });
  expect(keys.length).toBeGreaterThan(0);
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  const attempts = queryState<{ attempt: number; state: string }>(stage, 'SELECT attempt, state FROM steps');
  expect(attempts.map((step) => `${step.attempt} ${step.state}`)).toEqual(attempts.map(() => '1 done'));
}

/**
 * Every settled call stands for one answer of the provider, counted once. An answer without a settled call was in
 * flight at a kill: its call is charged in full (`forfeit`), its reserved input as input, its reserved output as output.
 */
export async function expectLedger(stage: Stage, kills: number): Promise<{ forfeit: number }> {
  const calls = readCalls(stage);
  expect(calls.filter((call) => call.state === 'reserved' || call.state === 'sent')).toEqual([]);
  expect([...new Set(calls.map((call) => call.source))].filter((source) => !SOURCES.includes(source))).toEqual([]);
  const { rows } = await stage.json<{ rows: ReportRow[] }>(['report', '--by', 'role']);
  for (const role of ['planner', 'coder', 'test', 'reviewer']) {
    const own = calls.filter((call) => call.role === role);
    const forfeit = own.filter((call) => call.state === 'forfeit');
    const { unknown, unsettled } = compareWithBooks(calls, stage.books, role);
    expect(unknown, `settled calls of ${role} that the provider did not bill`).toEqual([]);
    expect(unsettled.length, `answers to ${role} that nobody counts`).toBeLessThanOrEqual(forfeit.length);
    const row = rows.find((one) => one.role === role);
    const billed = sumOf(
      stage.books.filter((book) => book.key.includes(role)),
      (book) => book.input + book.output,
    );
    const lost = sumOf(unsettled, (book) => book.input + book.output);
    expect(row?.forfeit).toBe(sumOf(forfeit, (call) => call.reserved_input + call.reserved_output));
    expect((row?.input ?? 0) + (row?.output ?? 0)).toBe(billed - lost + (row?.forfeit ?? 0));
    expect(row?.requests).toBe(stage.books.filter((book) => book.key.includes(role)).length - unsettled.length);
    // Two tasks may each have a call in flight when the daemon dies.
    expect(forfeit.length).toBeLessThanOrEqual(2 * kills);
  }
  expectBudgets(stage);
  const { total } = await stage.json<{ total: { workTokens: number } }>(['report', '--by', 'role']);
  const digest = await stage.json<{ spentWorkTokens: number }>([]);
  expect(digest.spentWorkTokens).toBe(total.workTokens);
  return { forfeit: calls.filter((call) => call.state === 'forfeit').length };
}

const SOURCES = ['upstream', 'forfeit', 'released'];

interface ReportRow {
  readonly role: string;
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly forfeit: number;
}

/** Nothing is held for ever, and a scope has spent what its calls have. */
function expectBudgets(stage: Stage): void {
  const calls = readCalls(stage);
  const budgets = readBudgets(stage);
  expect(budgets.length).toBeGreaterThan(0);
  for (const budget of budgets) {
    const spent = sumOf(
      calls.filter((call) =>
        (JSON.parse(call.scopes) as { scope: string }[]).some(({ scope }) => scope === budget.scope),
      ),
      (call) => call.work_milli,
    );
    expect({ scope: budget.scope, held: budget.held_milli, spent: budget.spent_milli }).toEqual({
      scope: budget.scope,
      held: 0,
      spent,
    });
    if (budget.cap_milli !== null) expect(budget.spent_milli, budget.scope).toBeLessThanOrEqual(budget.cap_milli);
  }
}

export async function expectNotesOnce(stage: Stage): Promise<void> {
  const text = await readFile(path.join(stage.project, 'agent-notes/coder.md'), 'utf8');
  for (const note of NOTES) expect(text.split(note).length - 1, note).toBe(1);
}

function eventsOf(stage: Stage, type: string): readonly Record<string, unknown>[] {
  return queryState<{ type: string; data: string }>(stage, 'SELECT type, data FROM events ORDER BY seq')
    .filter((row) => row.type === type)
    .map((row) => JSON.parse(row.data) as Record<string, unknown>);
}
