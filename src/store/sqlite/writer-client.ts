import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { OrchestratorError } from '../../domain/errors.ts';
import type { Write, WriteOutcome } from '../store.ts';
import type { BatchResult } from './group-commit.ts';
import type { FromWriter, ToWriter, WriterData } from './writer.ts';

export interface WriterClient {
  write(batch: readonly Write[]): Promise<WriteOutcome>;
  /** Commits what is queued, then closes the database. */
  close(): Promise<void>;
}

interface Waiter {
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: OrchestratorError) => void;
}

/** Starts the writer thread; rejects when it cannot open the database. */
export async function startWriter(data: WriterData): Promise<WriterClient> {
  // On some Nodes node:sqlite warns in every thread that loads it. The process's own flags stay out: a thread refuses
  // to start with those about memory.
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = new Worker(writerFile(), { workerData: data, execArgv });
  const waiters = new Map<number, Waiter>();
  let nextId = 1;
  let stopped: OrchestratorError | undefined;

  function endAll(error: OrchestratorError): void {
    stopped ??= error;
    for (const waiter of waiters.values()) waiter.reject(stopped);
    waiters.clear();
  }
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      endAll(new OrchestratorError('failed', `The writer of ${data.path} has ended; nothing more is stored.`));
      resolve();
    });
  });
  await once(worker, 'message');
  worker.on('error', (cause) => {
    endAll(new OrchestratorError('failed', `The writer of ${data.path} failed: ${cause}`, { cause }));
  });
  worker.on('message', (message: FromWriter) => {
    if (message.kind !== 'results') return;
    for (const { id, result } of message.results) {
      const waiter = waiters.get(id);
      waiters.delete(id);
      if (waiter !== undefined) settle(waiter, result, data.path);
    }
  });

  return {
    write(batch) {
      if (stopped !== undefined) return Promise.reject(stopped);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        waiters.set(id, { resolve, reject });
        worker.postMessage({ kind: 'write', id, batch } satisfies ToWriter);
      });
    },
    async close() {
      if (stopped === undefined) {
        stopped = new OrchestratorError('failed', `The store ${data.path} is closed.`);
        worker.postMessage({ kind: 'close' } satisfies ToWriter);
      }
      await exited;
    },
  };
}

function settle(waiter: Waiter, result: BatchResult, path: string): void {
  switch (result.kind) {
    case 'outcome':
      waiter.resolve(result.outcome);
      return;
    case 'invalid':
      waiter.reject(new OrchestratorError('failed', `A batch was refused by ${path}: ${result.message}`));
      return;
    case 'broken':
      waiter.reject(
        new OrchestratorError(
          'failed',
          `Writing to ${path} failed: ${result.message}. Nothing is stored until it works again; check disk space and the file system.`,
        ),
      );
      return;
  }
}

/** `.ts` when run from source, `.js` when built: the same extension as this file. */
function writerFile(): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./writer.${extension}`, import.meta.url);
}
