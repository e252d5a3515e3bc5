import type { Key } from '../tui/keys.ts';

/** Everything a verb may know about and say to the world outside; made by main.ts from the process. */
export interface Io {
  stdout(text: string): void;
  stderr(text: string): void;
  stdin(): AsyncIterable<Buffer>;
  /** The person at the terminal; undefined when there is nobody to ask. */
  readonly terminal: Terminal | undefined;
  readonly columns: number;
  readonly color: boolean;
  /** Results as JSON on stdout. */
  readonly json: boolean;
  /** Results only: no progress, no hints. */
  readonly quiet: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory given with -C, else the current one; absolute. */
  readonly cwd: string;
  readonly home: string;
  readonly uid: number;
  readonly user: string;
  /** The interpreter that runs this, for child processes. */
  readonly execPath: string;
  readonly version: string;
  /** `v24.9.0` */
  readonly nodeVersion: string;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  now(): number;
  isAlive(pid: number): boolean;
}

export interface Terminal {
  /** One line, with the ordinary line editing. Undefined when the person ended the input. */
  askLine(question: string): Promise<string | undefined>;
  /** Runs `use` with a source of single key presses; the terminal is put back afterwards. */
  withKeys<Result>(use: (nextKey: () => Promise<Key | undefined>) => Promise<Result>): Promise<Result>;
}
