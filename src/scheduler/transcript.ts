import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AgentId, RunId } from '../domain/ids.ts';
import type { Engine } from './engine.ts';

/** Exports an agent's turns and events as `runs/<run>/agents/<agent>.jsonl`; the last line is a terminal record. */
export async function writeTranscript(engine: Engine, which: { run: RunId; agent: AgentId }): Promise<void> {
  const directory = path.join(engine.paths.runs, which.run, 'agents');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const turns = engine.store.read('turn-list', { agent: which.agent }).map((row) => ({
    type: 'turn',
    turn: row['turn'],
    state: row['state'],
    snapshot: row['snapshot'],
    ...JSON.parse(String(row['data'])),
  }));
  const events = engine.store.read('events-of-agent', { agent: which.agent }).map((row) => ({
    type: row['type'],
    at: row['at'],
    ...JSON.parse(String(row['data'])),
  }));
  const last = events.at(-1);
  const terminal = { type: 'terminal', agent: which.agent, last: last?.type ?? null, turns: turns.length };
  const name = `${which.agent.slice(which.run.length + 1).replaceAll('/', '-')}.jsonl`;
  const lines = [...events, ...turns, terminal].map((line) => JSON.stringify(line));
  await writeFile(path.join(directory, name), `${lines.join('\n')}\n`, { mode: 0o600 });
}
