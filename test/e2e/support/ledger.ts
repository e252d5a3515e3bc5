import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { BookRow } from '../../../src/cli/demo/scripted-model.ts';
import { keyOf, type Stage } from './stage.ts';

export interface CallRow {
  readonly state: 'reserved' | 'sent' | 'settled' | 'forfeit';
  readonly source: string;
  readonly role: string;
  readonly agent: string;
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly reserved_input: number;
  readonly reserved_output: number;
  readonly work_milli: number;
  readonly scopes: string;
}

export interface BudgetRow {
  readonly scope: string;
  readonly cap_milli: number | null;
  readonly spent_milli: number;
  readonly held_milli: number;
}

/** Reads the state database beside a daemon that may be writing it. */
export function queryState<Row>(stage: Stage, sql: string): readonly Row[] {
  const database = new DatabaseSync(path.join(stage.state, 'state.db'), { readOnly: true });
  try {
    return database.prepare(sql).all() as unknown as Row[];
  } finally {
    database.close();
  }
}

/** Makes the rows what a crash at a certain point would have left. Only while no daemon runs. */
export function changeState(stage: Stage, sql: string): void {
  const database = new DatabaseSync(path.join(stage.state, 'state.db'));
  try {
    const { changes } = database.prepare(sql).run();
    if (Number(changes) === 0) throw new Error(`nothing to change: ${sql}`);
  } finally {
    database.close();
  }
}

export function readCalls(stage: Stage): readonly CallRow[] {
  return queryState<CallRow>(stage, 'SELECT * FROM calls ORDER BY created_at, id');
}

export function readBudgets(stage: Stage): readonly BudgetRow[] {
  return queryState<BudgetRow>(stage, 'SELECT * FROM budgets ORDER BY scope');
}

/**
 * Takes the settled calls out of the provider's books, each once. `unknown`: settled calls that the provider never
 * billed like that (always wrong). `unsettled`: what it billed and no settled call stands for; only calls in flight at
 * a kill may explain those.
 */
export function compareWithBooks(
  calls: readonly CallRow[],
  books: readonly BookRow[],
  role: string,
): { unknown: readonly CallRow[]; unsettled: readonly BookRow[] } {
  const open = books.filter((row) => row.key === keyOf(role));
  const unknown: CallRow[] = [];
  for (const call of calls.filter((one) => one.role === role && one.source === 'upstream')) {
    const index = open.findIndex((row) => row.input === call.input && row.output === call.output);
    if (index === -1) unknown.push(call);
    else open.splice(index, 1);
  }
  return { unknown, unsettled: open };
}

export function sumOf<Row>(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}
