import { readFile } from 'node:fs/promises';
import { cutLines } from './cut-text.ts';
import { Failure } from './failure.ts';
import type { Answers, WorkerSettings } from './protocol.ts';
import { openable } from './resolve.ts';
import { runProgram } from './run-program.ts';

/** Lines that match, as `path:line:text`. Ignored files and `.git` are left out. */
export async function searchWithRipgrep(
  settings: WorkerSettings,
  wanted: { pattern: string; glob?: string },
): Promise<Answers['search']> {
  const glob = wanted.glob === undefined ? [] : ['--glob', wanted.glob];
  const result = await runProgram({
    command: 'rg',
    args: [...RIPGREP, ...glob, '--glob', '!.git', '--regexp', wanted.pattern, '--', '.'],
    cwd: settings.tree,
    env: settings.commandEnv,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  if (result === undefined) return { kind: 'no-ripgrep' };
  if (result.code === 2 && result.output.length === 0) throw new Failure(`search failed: ${result.errors.trim()}`);
  const lines = result.output
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  return { kind: 'found', text: shown(lines.map((line) => line.replace(/^\.\//, ''))) };
}

/** The same without ripgrep, over the given files, with JavaScript's regular expressions. */
export async function scanFiles(
  settings: WorkerSettings,
  wanted: { pattern: string; paths: readonly string[] },
): Promise<string> {
  const expression = compile(wanted.pattern);
  const lines: string[] = [];
  for (const path of wanted.paths) {
    const bytes = await openable(settings.tree, path, 'links-refused')
      .then((file) => readFile(file))
      .catch(() => undefined);
    if (bytes === undefined || bytes.includes(0)) continue;
    for (const [index, line] of bytes.toString('utf8').split('\n').entries()) {
      if (expression.test(line)) lines.push(`${path}:${index + 1}:${line.slice(0, LINE_LENGTH)}`);
    }
    if (lines.length > LIMITS.lines * 10) break;
  }
  return shown(lines);
}

const LINE_LENGTH = 400;
const LIMITS = { bytes: 30_000, lines: 300 };
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 20_000_000;
const RIPGREP = [
  ...['--line-number', '--no-heading', '--color', 'never', '--no-config', '--hidden', '--sort', 'path'],
  ...['--max-columns', String(LINE_LENGTH), '--max-columns-preview'],
];

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw new Failure(`search failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function shown(lines: readonly string[]): string {
  if (lines.length === 0) return 'No matches.';
  const { kept, left } = cutLines(lines, LIMITS);
  const note = left === 0 ? [] : [`[${left} more matches left out; narrow the pattern or the glob]`];
  return [...kept, ...note].join('\n');
}
