/**
 * The Store port: what survives a restart.
 *
 * Every statement has a name (one file a statement under `sqlite/sql/`); parameters and columns are plain JSON scalars,
 * so that another database can stand behind it. A batch is atomic, and durable once its promise resolves: batches that
 * queue up meanwhile are committed together (group commit). A read sees every batch that has resolved.
 *
 * `write` resolves with `rolledBack` when a guard did not hold (nothing of that batch remains; others in the same group
 * commit are untouched). It rejects only when the database itself fails: the caller must then stop admitting work.
 */
export interface Store {
  write(batch: readonly Write[]): Promise<WriteOutcome>;
  read(statement: string, params?: Params): Row[];
  close(): Promise<void>;
}

export type SqlValue = string | number | null;
export type Params = Readonly<Record<string, SqlValue>>;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Write {
  readonly statement: string;
  readonly params: Params;
  /** A guard: the batch is rolled back unless the statement changes exactly this many rows. */
  readonly expectChanges?: number;
}

export type WriteOutcome =
  | { readonly committed: true; readonly changes: readonly number[] }
  | { readonly committed: false; readonly failedAt: number };
