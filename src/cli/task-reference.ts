import { OrchestratorError } from '../domain/errors.ts';

export interface TaskReference {
  readonly run: string;
  readonly task: string;
}

/** Reads `r-…/T1`, or `T1` with `--run r-…`. Undefined when it is not written like a task. */
export function parseTaskReference(text: string, run: string | undefined): TaskReference | undefined {
  const [first = '', second, ...rest] = text.split('/');
  if (rest.length > 0) return undefined;
  if (second !== undefined) return /^T\d+$/.test(second) ? { run: first, task: second } : undefined;
  if (!/^T\d+$/.test(first)) return undefined;
  if (run !== undefined) return { run, task: first };
  throw new OrchestratorError('usage', `${text} is a task of which run? write r-…/${text}, or add --run r-…`);
}
