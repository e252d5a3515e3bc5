/**
 * What the daemon and the worker say to each other: one JSON object a line over stdio. The worker says `ready` first;
 * then every request gets exactly one reply with its id, in any order. Paths are repository paths (domain/path.ts).
 */
export type Request =
  | { readonly op: 'resolve'; readonly path: string }
  | { readonly op: 'read'; readonly path: string; readonly offset?: number; readonly limit?: number }
  | { readonly op: 'list' }
  | { readonly op: 'search'; readonly pattern: string; readonly glob?: string }
  | { readonly op: 'scan'; readonly pattern: string; readonly paths: readonly string[] }
  | {
      readonly op: 'edit';
      readonly path: string;
      readonly oldText: string;
      readonly newText: string;
      readonly replaceAll: boolean;
    }
  | { readonly op: 'write'; readonly path: string; readonly content: string }
  | { readonly op: 'delete'; readonly path: string }
  | { readonly op: 'move'; readonly from: string; readonly to: string }
  | { readonly op: 'exec'; readonly command: string; readonly timeoutMs: number };

export interface Answers {
  readonly resolve: Resolved;
  readonly read: { readonly text: string };
  readonly list: { readonly paths: readonly string[] };
  /** `no-ripgrep`: the daemon lists and filters, and asks for a `scan`. */
  readonly search: { readonly kind: 'found'; readonly text: string } | { readonly kind: 'no-ripgrep' };
  readonly scan: { readonly text: string };
  readonly edit: { readonly text: string };
  readonly write: { readonly text: string };
  readonly delete: { readonly text: string };
  readonly move: { readonly text: string };
  readonly exec: {
    readonly text: string;
    readonly ending: 'exited' | 'timeout' | 'cancelled';
    readonly code: number | null;
  };
}

/** Where a path as written leads. */
export type Resolved =
  | {
      readonly place: 'inside';
      /** The path itself, with the links of its directories followed. */
      readonly own: string;
      /** Where it leads when it is a link; else the same as `own`. */
      readonly canonical: string;
      readonly exists: 'file' | 'directory' | 'other' | 'missing';
    }
  | { readonly place: 'outside'; readonly reason: string };

export type Outgoing = { readonly id: number; readonly request: Request } | { readonly cancel: number };
export type Incoming =
  | { readonly ready: true }
  | { readonly id: number; readonly answer: Answers[Request['op']] }
  /** What an agent can cause (missing file, no match); never a bug of ours. */
  | { readonly id: number; readonly failure: string };

/** What the worker is started with, as its only argument in JSON. */
export interface WorkerSettings {
  readonly tree: string;
  /** The whole environment of commands. */
  readonly commandEnv: Readonly<Record<string, string>>;
  /** Serve the gateway on the view's own loopback. */
  readonly relay?: { readonly port: number; readonly socketPath: string };
}
