import { OrchestratorError } from '../domain/errors.ts';
import { escapeForDisplay } from '../domain/escape.ts';
import { type GitRun, runGit } from './run-git.ts';

/** One git call as a value: what to run, which exit codes are answers, how to read the answer. */
export interface GitCommand<Result> {
  readonly args: readonly string[];
  readonly input?: Buffer;
  /** Variables on top of the door's. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Exit codes beside 0 that are an answer. Any other one throws. */
  readonly accepts?: readonly number[];
  parse(output: GitOutput): Result;
}

export interface GitOutput {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs commands in one repository with one fixed environment. */
export type GitDoor = <Result>(command: GitCommand<Result>) => Promise<Result>;

interface DoorOptions {
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** `key=value` settings that win over every configuration file. */
  readonly config?: readonly string[];
  /** What error messages call the place: `the user's repository /x`. */
  readonly subject: string;
}

export function openDoor(options: DoorOptions): GitDoor {
  const prefix = (options.config ?? []).flatMap((setting) => ['-c', setting]);
  return async (command) => {
    const { exitCode, ...output } = await run([...prefix, ...command.args], command, options);
    const stderr = output.stderr.toString('utf8');
    if (exitCode !== 0 && !(command.accepts ?? []).includes(exitCode)) {
      throw failure(command, options, { exitCode, stderr });
    }
    return command.parse({ exitCode, stdout: output.stdout, stderr });
  };
}

async function run(args: readonly string[], command: GitCommand<unknown>, options: DoorOptions): Promise<GitRun> {
  const env = { ...options.environment, ...command.environment };
  try {
    return await runGit(args, { cwd: options.cwd, env, input: command.input, maxBytes: MAX_OUTPUT_BYTES });
  } catch (cause) {
    const message = `git ${command.args[0]} could not run in ${options.subject}`;
    throw new OrchestratorError('failed', message, { cause });
  }
}

/** For commands whose output nobody reads. */
export function ignoreOutput(): undefined {
  return undefined;
}

const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;

function failure(
  command: GitCommand<unknown>,
  options: DoorOptions,
  output: { exitCode: number; stderr: string },
): OrchestratorError {
  const details = output.stderr
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, 20)
    .map((line) => escapeForDisplay(line));
  const reason = details.at(-1) ?? 'no message';
  return new OrchestratorError(
    'failed',
    `git ${command.args[0]} failed in ${options.subject} (exit ${output.exitCode}): ${details[0] ?? reason}`,
    { details },
  );
}
