import { z } from 'zod';
import type { Backend, ReportBy } from './backend.ts';

/** One method of the control socket: its parameters are checked before the backend sees them. */
export interface Method {
  call(backend: Backend, params: unknown, signal: AbortSignal): Promise<unknown>;
}

const id = z.string().min(1).max(300);
const text = z.string().max(1_000_000);
const count = z.number().int().nonnegative();
/** A longer wait is the client's loop, so that nothing hangs on a connection for ever. */
const timeoutMs = count.max(600_000);
const nothing = z.undefined();
const reportBy = z.enum(['role', 'model', 'task', 'run', 'day'] as const satisfies readonly ReportBy[]);
const author = z.strictObject({ name: text.min(1), email: text.min(1) });

/** The request contract: every method with the shape of its parameters; unknown keys and methods are refused. */
export const METHODS = {
  status: method(nothing, (backend) => backend.status()),
  run: method(
    z.strictObject({
      request: text.min(1),
      role: z.exactOptional(id),
      base: z.exactOptional(id),
      withWip: z.boolean(),
      target: z.exactOptional(id),
      dryRun: z.boolean(),
      author,
    }),
    (backend, request) => backend.run(request),
  ),
  runs: method(nothing, (backend) => backend.runs()),
  showRun: method(id, (backend, run) => backend.showRun(run)),
  cancel: method(id, (backend, run) => backend.cancel(run)),
  retry: method(z.strictObject({ run: id, task: id }), (backend, request) => backend.retry(request)),
  resume: method(id, (backend, run) => backend.resume(run)),
  checkpoints: method(z.boolean(), (backend, all) => backend.checkpoints(all)),
  showCheckpoint: method(id, (backend, checkpoint) => backend.showCheckpoint(checkpoint)),
  approve: method(
    z.strictObject({
      id,
      tokens: z.exactOptional(count),
      usd: z.exactOptional(z.number().nonnegative().max(1_000_000)),
      despiteVerify: z.exactOptional(z.boolean()),
      digest: z.exactOptional(id),
      by: id,
    }),
    (backend, request) => backend.approve(request),
  ),
  reject: method(
    z.strictObject({
      id,
      reason: text.min(1),
      rework: z.exactOptional(z.boolean()),
      task: z.exactOptional(id),
      digest: z.exactOptional(id),
      by: id,
    }),
    (backend, request) => backend.reject(request),
  ),
  report: method(z.strictObject({ by: reportBy, since: z.exactOptional(count) }), (backend, request) =>
    backend.report(request),
  ),
  violations: method(nothing, (backend) => backend.violations()),
  conflicts: method(nothing, (backend) => backend.conflicts()),
  restore: method(z.strictObject({ role: id, path: text.min(1) }), (backend, request) => backend.restore(request)),
  policyReload: method(nothing, (backend) => backend.policyReload()),
  land: method(
    z.strictObject({ run: id, directory: text.min(1), squash: z.boolean(), branch: z.exactOptional(id) }),
    (backend, request) => backend.land(request),
  ),
  gc: method(z.strictObject({ dryRun: z.boolean() }), (backend, request) => backend.gc(request)),
  waitRun: method(z.strictObject({ run: id, timeoutMs }), (backend, request, signal) =>
    backend.waitRun(request, signal),
  ),
  events: method(
    z.strictObject({ afterSeq: count, limit: count.min(1).max(10_000), timeoutMs, run: z.exactOptional(id) }),
    (backend, request, signal) => backend.events(request, signal),
  ),
  digest: method(z.strictObject({ mark: z.boolean() }), (backend, request) => backend.digest(request)),
  doctor: method(z.strictObject({ role: z.exactOptional(id) }), (backend, request, signal) =>
    backend.doctor(request, signal),
  ),
  stop: method(z.strictObject({ now: z.boolean() }), (backend, request) => backend.stop(request)),
} as const satisfies Record<keyof Backend, Method>;

/** The envelope of a request line. */
export const requestLine = z.strictObject({
  id: z.number().int(),
  method: z.string(),
  params: z.unknown().optional(),
});

function method<Params>(
  schema: z.ZodType<Params>,
  act: (backend: Backend, params: Params, signal: AbortSignal) => Promise<unknown>,
): Method {
  return { call: async (backend, params, signal) => act(backend, schema.parse(params), signal) };
}
