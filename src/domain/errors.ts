/** Why something failed, in the classes that the exit codes know. */
export type ErrorCode =
  | 'usage' // exit 2
  | 'configuration' // exit 2
  | 'waiting' // exit 3
  | 'budget' // exit 4
  | 'refused' // exit 5
  | 'no-daemon' // exit 6
  | 'interrupted' // exit 130
  | 'failed'; // exit 1

/** The one error of the product. The message says what failed, on what, and what to do. */
export class OrchestratorError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly string[];

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: readonly string[] } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OrchestratorError';
    this.code = code;
    this.details = options.details ?? [];
  }
}

export const EXIT_CODES = {
  usage: 2,
  configuration: 2,
  waiting: 3,
  budget: 4,
  refused: 5,
  'no-daemon': 6,
  interrupted: 130,
  failed: 1,
} as const satisfies Record<ErrorCode, number>;

/** The text of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
