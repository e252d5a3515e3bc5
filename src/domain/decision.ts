import type { RepoPath } from './path.ts';

/** The answer for (role, operation, path), in the order in which the first hit decides; `out` is no hit. */
export type Decision = 'never' | 'generated' | 'deny' | 'ask' | 'write' | 'out';
export type Operation = 'create' | 'modify' | 'delete';
/** A `text` ask (docs, changelog, readme, licence) needs only the approval inside the merge checkpoint. */
export type AskClass = 'text' | 'hard';

export interface Verdict {
  readonly decision: Decision;
  /** The glob that decided, as written; undefined for `out`. */
  readonly rule?: string;
  /** Where the rule stands: `policies/roles/coder.yaml:12`, `profile cpython`, `.gitattributes of the base tree`. */
  readonly origin?: string;
  /** Only for `ask`. */
  readonly askClass?: AskClass;
}

/** One changed path between two trees, as `diff-tree --raw` says it. A rename is a delete and a create. */
export interface Change {
  readonly path: RepoPath;
  readonly operation: Operation;
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldBlob: string;
  readonly newBlob: string;
}
