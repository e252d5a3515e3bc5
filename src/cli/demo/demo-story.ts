import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { escapeForDisplay } from '../../domain/escape.ts';

interface Turn {
  readonly calls: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
  readonly results: readonly { readonly text: string; readonly isError: boolean }[];
  readonly notices: readonly string[];
}

const WIDTH = 150;

/** What the first coder tried and what it was told, out of its transcript in the state directory. */
export async function coderStory(state: string, run: string): Promise<readonly string[]> {
  const file = path.join(state, 'runs', run, 'agents', 'T1-coder#1.jsonl');
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const turns = lines.map((line) => JSON.parse(line) as { type: string } & Turn).filter((line) => line.type === 'turn');
  return [`What the coder of T1 tried, from ${file}:`, ...turns.flatMap(turnLines)];
}

function turnLines(turn: Turn): readonly string[] {
  const calls = turn.calls.map((call, index) => {
    const about = String(call.input['path'] ?? call.input['command'] ?? call.input['summary'] ?? '');
    const answer = turn.results[index]?.text ?? '';
    return [`  ${call.name} ${oneLine(about)}`, `    → ${oneLine(answer)}`];
  });
  return [...calls.flat(), ...turn.notices.map((notice) => `    → ${oneLine(notice)}`)];
}

function oneLine(text: string): string {
  const plain = escapeForDisplay(text.trim());
  return plain.length > WIDTH ? `${plain.slice(0, WIDTH)}…` : plain;
}
