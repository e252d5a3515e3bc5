import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { OrchestratorError } from '../../../domain/errors.ts';
import type { SandboxedProcess } from '../../../sandbox/sandbox.ts';
import { onLines } from '../worker/json-lines.ts';
import type { Answers, Incoming, Outgoing, Request } from '../worker/protocol.ts';

/** What an agent caused inside the view (missing file, no match); its message is for the model. */
export class WorkerFailure extends Error {}

export interface WorkerClient {
  /** Throws WorkerFailure for what an agent can cause, OrchestratorError when the worker is gone. */
  request<Op extends Request['op']>(request: Extract<Request, { op: Op }>, signal?: AbortSignal): Promise<Answers[Op]>;
  end(): Promise<{ readonly dead: boolean; readonly evidence: string }>;
}

/** Waits until the worker is ready. Throws OrchestratorError with its error output when it never gets there. */
export async function connectWorker(worker: SandboxedProcess, startTimeoutMs: number): Promise<WorkerClient> {
  const errors = text(worker.stderr).catch(() => '');
  const ready = Promise.withResolvers<'ready'>();
  const pending = new Map<number, PromiseWithResolvers<Answers[Request['op']]>>();
  let gone = false;
  onLines(worker.stdout, {
    line: (line) => {
      // The agent's commands live beside the worker: what it says is no more trusted than they are.
      if (receive(line, { pending, ready: ready.resolve }) === 'garbage') void worker.end();
    },
    end: () => undefined,
  });
  const ended = worker.exited.then(async () => {
    gone = true;
    const error = goneError((await errors).trim());
    for (const one of pending.values()) one.reject(error);
    pending.clear();
    return error;
  });
  await started(worker, { ready: ready.promise, ended, startTimeoutMs });

  let lastId = 0;
  return {
    request: async (request, signal) => {
      if (gone) throw await ended;
      lastId += 1;
      const id = lastId;
      const answer = Promise.withResolvers<Answers[Request['op']]>();
      pending.set(id, answer);
      const cancel = (): void => send(worker, { cancel: id });
      signal?.addEventListener('abort', cancel, { once: true });
      send(worker, { id, request });
      if (signal?.aborted === true) cancel();
      try {
        return (await answer.promise) as Answers[typeof request.op];
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    },
    end: () => worker.end(),
  };
}

async function started(
  worker: SandboxedProcess,
  waiting: { ready: Promise<'ready'>; ended: Promise<OrchestratorError>; startTimeoutMs: number },
): Promise<void> {
  const over = new AbortController();
  const late = delay(waiting.startTimeoutMs, 'late' as const, { signal: over.signal }).catch(() => 'late' as const);
  const first = await Promise.race([waiting.ready, waiting.ended, late]);
  over.abort();
  if (first === 'ready') return;
  await worker.end();
  throw first === 'late' ? goneError(`it was not ready after ${waiting.startTimeoutMs / 1000} s`) : first;
}

function receive(
  line: string,
  to: { pending: Map<number, PromiseWithResolvers<Answers[Request['op']]>>; ready: (value: 'ready') => void },
): 'understood' | 'garbage' {
  const message = parse(line);
  if (message === undefined) return 'garbage';
  if ('ready' in message) {
    to.ready('ready');
    return 'understood';
  }
  const waiting = to.pending.get(message.id);
  to.pending.delete(message.id);
  if ('failure' in message) waiting?.reject(new WorkerFailure(String(message.failure)));
  else waiting?.resolve(message.answer);
  return 'understood';
}

function parse(line: string): Incoming | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? (message as Incoming) : undefined;
  } catch {
    return undefined;
  }
}

function send(worker: SandboxedProcess, message: Outgoing): void {
  worker.stdin.write(`${JSON.stringify(message)}\n`);
}

function goneError(reason: string): OrchestratorError {
  const because = reason === '' ? '' : `: ${reason}`;
  return new OrchestratorError(
    'failed',
    `The process for the agent's tools inside the sandbox is not there any more${because}. Retry the step; \`orchestrator doctor\` checks the sandbox.`,
  );
}
