// Runs in a worker thread: DatabaseSync blocks on every commit, and the main thread must not.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Write } from '../store.ts';
import { type BatchResult, createGroupWriter } from './group-commit.ts';
import type { Statements } from './statements.ts';

export interface WriterData {
  readonly path: string;
  readonly statements: Statements;
}
export type ToWriter =
  | { readonly kind: 'write'; readonly id: number; readonly batch: readonly Write[] }
  | { readonly kind: 'close' };
export type FromWriter =
  | { readonly kind: 'ready' }
  | { readonly kind: 'results'; readonly results: readonly { readonly id: number; readonly result: BatchResult }[] };

const port = parentPort;
if (port !== null) serve(port, workerData as WriterData);

function serve(port: NonNullable<typeof parentPort>, data: WriterData): void {
  const database = new DatabaseSync(data.path, { timeout: 10_000 });
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON;');
  const writer = createGroupWriter(database, data.statements);

  port.on('message', (first: ToWriter) => {
    const queued = [first, ...drain(port)];
    const writes = queued.filter((message) => message.kind === 'write');
    if (writes.length > 0) {
      const results = writer.apply(writes.map((message) => message.batch));
      const byId = writes.flatMap(({ id }, index) => {
        const result = results[index];
        return result === undefined ? [] : [{ id, result }];
      });
      port.postMessage({ kind: 'results', results: byId } satisfies FromWriter);
    }
    if (queued.some((message) => message.kind === 'close')) {
      database.close();
      port.close();
    }
  });
  port.postMessage({ kind: 'ready' } satisfies FromWriter);
}

/** Everything that has queued up behind the message in hand: it shares that message's commit. */
function drain(port: NonNullable<typeof parentPort>): ToWriter[] {
  const messages: ToWriter[] = [];
  while (messages.length < MAX_GROUP) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) break;
    messages.push(received.message as ToWriter);
  }
  return messages;
}

const MAX_GROUP = 1000;
