import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { logLineText } from './output/log-line.ts';
import { say } from './output/say.ts';
import { type Given, isGiven, textOption } from './program/verb.ts';
import { findRepository } from './repository.ts';
import { stateOf } from './state.ts';

/** The end of the log as text, with --json as the lines that are in the file. */
export async function logs(io: Io, given: Given): Promise<number> {
  const state = await stateOf(io, await findRepository(io), { create: false });
  const file = join(state.logs, 'daemon.log');
  const wanted = readCount(textOption(given, 'lines') ?? '100');
  const { lines, end } = await readTail(file, wanted);
  printLines(io, lines);
  if (isGiven(given, 'follow')) await follow(io, file, end);
  return 0;
}

const TAIL_BYTES = 4 * 1024 * 1024;
const LOOK_MS = 250;

function readCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new OrchestratorError('usage', `--lines ${text} is not a number of lines`);
}

async function readTail(file: string, wanted: number): Promise<{ lines: readonly string[]; end: number }> {
  const size = await sizeOf(file);
  if (size === undefined)
    throw new OrchestratorError('usage', `there is no log yet at ${file}: \`orchestrator start\` writes it`);
  const from = Math.max(0, size - TAIL_BYTES);
  const lines = (await readRange(file, from, size)).split('\n').filter((line) => line !== '');
  return { lines: wanted === 0 ? [] : lines.slice(-wanted), end: size };
}

/** Until interrupted. A file that shrank was rotated: its successor is read from its beginning. */
async function follow(io: Io, file: string, from: number): Promise<void> {
  let end = from;
  let held = '';
  while (!io.signal.aborted) {
    const size = (await sizeOf(file)) ?? 0;
    if (size < end) end = 0;
    if (size > end) {
      const lines = `${held}${await readRange(file, end, size)}`.split('\n');
      held = lines.pop() ?? '';
      printLines(io, lines);
      end = size;
    }
    await delay(LOOK_MS, undefined, { signal: io.signal });
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.size;
}

async function readRange(file: string, from: number, to: number): Promise<string> {
  const handle = await open(file);
  try {
    const buffer = Buffer.alloc(to - from);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

function printLines(io: Io, lines: readonly string[]): void {
  for (const line of lines) {
    if (io.json) io.stdout(`${line}\n`);
    else say(io, logLineText(line));
  }
}
