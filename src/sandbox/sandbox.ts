import type { Readable, Writable } from 'node:stream';

/** What a role's processes see. All paths are absolute and canonical; the paths inside the view are the same as outside. */
export interface View {
  /** The private tree: the only repository content that is writable. */
  readonly tree: string;
  /** Writable scratch; TMPDIR points here. */
  readonly scratch: string;
  /** Writable HOME of the role. */
  readonly home: string;
  /** Bound read-only after masking: toolchains, our package, object stores. Missing ones are skipped. */
  readonly readOnly: readonly string[];
  /** Repository-relative directories inside `tree` that are bound read-only (static deny prefixes that exist). */
  readonly denyDirectories: readonly string[];
  /** Replaced by empty read-only directories: the user's checkout, the state directory, homes, runtime directories. */
  readonly hidden: readonly string[];
  /** Unix sockets (files) that stay reachable: the gateway's. */
  readonly sockets: readonly string[];
}

export type SandboxMode = 'bwrap' | 'landlock' | 'seatbelt' | 'detect-only';

/** The outcome of a real forbidden write, a forbidden connect and a forbidden read, tried at start. */
export interface ProbeResult {
  readonly mode: SandboxMode;
  readonly proved: boolean;
  /** What was tried and what happened, or why a backend can't be used, in the user's words. */
  readonly evidence: readonly string[];
  /** Set when `auto` fell to a weaker mode. */
  readonly warning?: string;
}

export interface LaunchOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly network: 'none' | 'host';
}

export interface SandboxedProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once when the process has ended; never rejects. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /**
   * Ends every process of the view and proves it. `dead: false` is a `dirty-end` finding (no PID namespace to prove it).
   */
  end(): Promise<{ readonly dead: boolean; readonly evidence: string }>;
}

/** Everything that an agent runs goes through `launch`. */
export interface Sandbox {
  readonly probe: ProbeResult;
  launch(view: View, options: LaunchOptions): SandboxedProcess;
  /** Ends what agents of a daemon that died left running, by agent id; the number of processes. */
  endLeftovers(agents: readonly string[]): number;
}

/**
 * What a command in a view is told about where to write: its home, its scratch, and there the byte code of Python. Python
 * takes a cached module for current when size and modification second agree; in a slot that is used again that cache
 * could be of the file that was there a moment ago, and a test would run on code that is gone.
 */
export function placesOf(view: Pick<View, 'home' | 'scratch'>): Readonly<Record<string, string>> {
  return { HOME: view.home, TMPDIR: view.scratch, PYTHONPYCACHEPREFIX: `${view.scratch}/pycache` };
}
