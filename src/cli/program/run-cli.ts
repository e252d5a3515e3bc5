import { type ErrorCode, EXIT_CODES, messageOf, OrchestratorError } from '../../domain/errors.ts';
import { escapeForDisplay } from '../../domain/escape.ts';
import type { Io } from '../io.ts';
import type { CommonOptions } from './build.ts';
import { readPlainCall } from './plain-call.ts';
import { VERB_GROUPS } from './verbs.ts';

/** The world before the common options are known. */
export interface Host {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly columns: number;
  readonly version: () => string;
  openIo(options: CommonOptions): Io;
}

/** Runs one command line; the result is the exit code. The one place where errors are caught and printed. */
export async function runCli(argv: readonly string[], host: Host): Promise<number> {
  try {
    return await dispatch(argv, host);
  } catch (error) {
    if (isCommanderError(error)) return error.exitCode === 0 ? 0 : EXIT_CODES.usage;
    const { code, lines } = explain(error);
    for (const line of lines) host.stderr(`${escapeForDisplay(line, { multiline: true })}\n`);
    return EXIT_CODES[code];
  }
}

async function dispatch(argv: readonly string[], host: Host): Promise<number> {
  const plain = readPlainCall(argv, VERB_GROUPS);
  if (plain === undefined) return parseAndAct(argv, host);
  const io = host.openIo(plain.common);
  const act = plain.verb?.act ?? (await import('../digest.ts')).digest;
  return act(io, { args: [], options: {}, groups: VERB_GROUPS });
}

async function parseAndAct(argv: readonly string[], host: Host): Promise<number> {
  const { buildProgram, commonOptions } = await import('./build.ts');
  let exitCode = 0;
  const program = buildProgram({
    ...host,
    groups: VERB_GROUPS,
    choose: async (verb, given) => {
      exitCode = (await verb.act?.(host.openIo(commonOptions(program)), given)) ?? 0;
    },
  });
  const { operands, unknown } = program.parseOptions([...argv]);
  const common = commonOptions(program);
  if (common.version) {
    host.stdout(`${host.version()}\n`);
    return 0;
  }
  if (operands.length === 0 && unknown.length === 0) {
    const { digest } = await import('../digest.ts');
    return digest(host.openIo(common));
  }
  // The parser's own `help` knows one level: `help policy explain` would show `policy`.
  const [first, ...topic] = argv;
  await program.parseAsync(first === 'help' && topic.length > 1 ? [...topic, '--help'] : [...argv], { from: 'user' });
  return exitCode;
}

/** By its shape: the parser is loaded only for the command lines that need it. */
function isCommanderError(error: unknown): error is Error & { readonly exitCode: number } {
  return error instanceof Error && error.name === 'CommanderError' && 'exitCode' in error;
}

function explain(error: unknown): { code: ErrorCode; lines: readonly string[] } {
  if (error instanceof OrchestratorError) {
    return {
      code: error.code,
      lines: [`orchestrator: ${error.message}`, ...error.details.map((detail) => `  ${detail}`)],
    };
  }
  if (error instanceof Error && error.name === 'AbortError') return { code: 'interrupted', lines: [] };
  // Anything else is a bug or a broken machine: the stack is what a report needs.
  const stack = error instanceof Error && error.stack !== undefined ? error.stack.split('\n').slice(1, 6) : [];
  return { code: 'failed', lines: [`orchestrator: ${messageOf(error)}`, ...stack] };
}
