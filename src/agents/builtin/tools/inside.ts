import type { ToolContext } from './tool.ts';
import { WorkerFailure } from './worker-client.ts';

/** The canonical path of something to read. Throws WorkerFailure when it is not in the repository. */
export async function resolveForRead(context: ToolContext, written: string): Promise<string> {
  const resolved = await context.worker.request({ op: 'resolve', path: written });
  if (resolved.place === 'inside') return resolved.canonical;
  throw new WorkerFailure(`${written} can't be read: ${resolved.reason}. Paths are relative to the repository's top.`);
}
