import type { Store, Write } from './store.ts';

/** A state change as its maker describes it. */
export interface NewEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Noun and past participle: `call-settled`, `run-recorded`. */
  readonly type: string;
  readonly run?: string | undefined;
  readonly task?: string | undefined;
  readonly role?: string | undefined;
  readonly agent?: string | undefined;
  /** Must survive JSON. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event as the log holds it; the shape that is shown to scripts, hence null for absent. */
export interface StoredEvent {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly role: string | null;
  readonly agent: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The event's row; put it into the batch that changes the state. */
export function eventWrite(event: NewEvent): Write {
  return {
    statement: 'event-insert',
    params: {
      at: event.at,
      type: event.type,
      run: event.run ?? null,
      task: event.task ?? null,
      role: event.role ?? null,
      agent: event.agent ?? null,
      data: JSON.stringify(event.data),
    },
  };
}

/** At most `limit` events after `afterSeq`, oldest first. */
export function readEvents(store: Store, afterSeq: number, limit: number): StoredEvent[] {
  return store.read('events-after', { after: afterSeq, limit }).map((row) => ({
    seq: Number(row['seq']),
    at: Number(row['at']),
    type: String(row['type']),
    run: text(row['run']),
    task: text(row['task']),
    role: text(row['role']),
    agent: text(row['agent']),
    data: JSON.parse(String(row['data'])) as Record<string, unknown>,
  }));
}

function text(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
